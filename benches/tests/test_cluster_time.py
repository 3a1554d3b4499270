"""cluster_time.py: its turns, its medians and its table, with a program that only writes a summary."""
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import cluster_time
import figure
from stand_in import TestWithProgram

PROGRAM = """#!/bin/sh
echo "$N_OF_CURVE $*" >> "$(dirname "$0")/calls"
for last; do :; done
printf '{"seconds": %s}' "$SECONDS_OF_CURVE" > "$last"
"""


class Table(TestWithProgram):
    NAME, TEXT = "hermite", PROGRAM

    def setUp(self):
        super().setUp()
        self.target = os.path.join(self.folder, "cluster-time")

    def run_with(self, *curves):
        drawn = []
        arguments = ["cluster_time.py", self.program, self.target, "--rounds", "2"]
        for curve in curves:
            arguments += ["--curve", curve]
        with mock.patch.object(sys, "argv", arguments), mock.patch.object(cluster_time, "RUNS", [(64, 0.5), (128, 0.25)]), \
                mock.patch.object(figure, "draw", lambda what, path: drawn.append((what, path))):
            cluster_time.main()
        with open(self.target + ".md", encoding="utf-8") as file:
            return file.read(), drawn[0][0]

    def test_seconds_of_a_time_unit_in_turns(self):
        text, drawn = self.run_with("one: SECONDS_OF_CURVE=0.25 N_OF_CURVE=1", "two: SECONDS_OF_CURVE=1.0 N_OF_CURVE=2 /lib/other.so")
        self.assertIn("| 64 | 0.5 | 2 (4.00) |", text)
        self.assertIn("| 128 | 1 | 4 (4.00) |", text)
        curves = drawn["columns"][0][0]["data"]["curves"]
        self.assertEqual([c["label"] for c in curves], ["one", "two"])
        self.assertEqual(curves[1]["points"], [[64, 2.0], [128, 4.0]])
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            calls = file.read().splitlines()
        self.assertEqual([call.split()[0] for call in calls], ["1", "2", "2", "1"] * 2)
        self.assertIn("--n 64 --t-end 0.5 --library /lib/other.so --json ", calls[1])

    def test_more_than_one_library_is_refused(self):
        with self.assertRaises(Exception) as refused:
            cluster_time.curve("a: /lib/one.so /lib/two.so")
        self.assertIn("more than one library", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
