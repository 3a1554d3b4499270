"""segregation.py: its order, how it goes on after it was stopped, and its table, with a program that only writes the CSV."""
import contextlib
import io
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import segregation
from stand_in import TestWithProgram

# The radius falls as 1 - t, and is larger by a hundredth of the seed. A run with theta_max = 0.5 has 1 % less.
PROGRAM = """#!/usr/bin/env python3
import os, sys
words = [word for word in sys.argv[1:] if word != "--force"]
given = dict(zip(words[::2], words[1::2]))
with open(os.path.join(os.path.dirname(sys.argv[0]), "calls"), "a") as file:
    file.write(" ".join(sys.argv[1:]) + chr(10))
name = os.path.basename(given["--csv"])
seed, angle = int(name[:-4].split("-")[3]), float(name.split("-")[2])
factor = (1 + 0.01 * seed) * (0.99 if angle == 0.5 else 1)
with open(given["--csv"], "w") as file:
    file.write("t,steps,heavy_50" + chr(10))
    times = [0.01 * k for k in range(1, 1000) if 0.01 * k < float(given["--t-end"])] + [float(given["--t-end"])]
    for t in times:
        file.write(f"{t},{round(100 * t)},{factor * (1 - t)}" + chr(10))
open(given["--output"], "w").close()
"""


class Table(TestWithProgram):
    NAME, TEXT = "monte-carlo", PROGRAM

    def run_with(self, seeds):
        page = os.path.join(self.folder, "page.md")
        arguments = ["segregation.py", self.program, os.path.join(self.folder, "runs"), page, "--seeds", str(seeds), "--ratios", "10"]
        with mock.patch.object(sys, "argv", arguments), mock.patch.object(segregation, "ANGLES", [1, 0.5]), \
                contextlib.redirect_stderr(io.StringIO()):
            segregation.main()
        with open(page, encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            return text, file.read().splitlines()

    def test_means_and_changes_of_the_same_clusters(self):
        text, calls = self.run_with(2)
        self.assertIn("| 10 : 1 | 1 | 0.8120 +- 0.0040 (2) |  | 0.6090 +- 0.0030 (2) |  | 40 |", text)
        self.assertIn("| 10 : 1 | 0.5 | 0.8039 +- 0.0040 (2) | -1.00 +- 0.00 (2) | 0.6029 +- 0.0030 (2) | -1.00 +- 0.00 (2) | 40 |", text)
        ends = [call.split("--t-end ")[1].split()[0] for call in calls]
        self.assertEqual(ends, ["0.23"] * 2 + ["0.43"] * 2 + ["0.23"] * 2 + ["0.43"] * 2)

    def test_what_is_done_is_not_done_again(self):
        self.run_with(1)
        _, calls = self.run_with(2)
        self.assertEqual(len(calls), 8)
        # The first run of a cluster begins it, and the next one goes on.
        self.assertIn("--n 100000 --mass-ratio 10", calls[0])
        self.assertTrue(calls[1].startswith("--input "), calls[1])
        for kind in ("csv", "txt"):
            os.remove(os.path.join(self.folder, "runs", "100000-10-0.5-2." + kind))
        _, calls = self.run_with(2)
        self.assertEqual(len(calls), 10)
        self.assertIn("--theta-max 0.5 --seed 2", calls[8])
        self.assertTrue(calls[9].startswith("--input "), calls[9])


if __name__ == "__main__":
    unittest.main()
