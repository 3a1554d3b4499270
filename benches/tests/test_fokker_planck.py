"""fokker_planck.py: what it tells the solver, and its table, with a solver that only writes files."""
import contextlib
import io
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fokker_planck
from stand_in import TestWithProgram

# Each component has the mass r^2 within r, up to 1; the centre is deepest at half of the time. It fails at the end, as the solver does after a collapse.
PROGRAM = """#!/usr/bin/env python3
import configparser, sys
config = configparser.ConfigParser()
config.read(sys.argv[1])
given = config["PhaseFlow"]
end = float(given["timeTotal"])
count = len(config.sections()) - 1
for time in (0, 0.25 * end, 1e-9 * end):
    for k in range(count):
        mass = float(config[f"S{k}"]["mass"])
        with open(f"{given['fileOut']}{time:g}{chr(97 + k) if count > 1 else ''}", "w") as file:
            file.write("#r M(r)" + chr(10) + "#0 0" + chr(10))
            for r in (0.0001, 0.01, 1):
                file.write(f"{r} {mass * r * r}" + chr(10))
with open(given["fileLog"], "w") as file:
    file.write("#Time Phi" + chr(10))
    for part, phi in ((0, -1.5), (0.5, -4), (0.6, -3)):
        file.write(f"{part * end} {phi}" + chr(10))
sys.exit(1)
"""


class Table(TestWithProgram):
    NAME, TEXT = "phaseflow.exe", PROGRAM

    def run_with(self, *options):
        printed = io.StringIO()
        with mock.patch("sys.argv", ["fokker_planck.py", self.program, os.path.join(self.folder, "runs"), *options]):
            with contextlib.redirect_stdout(printed):
                fokker_planck.main()
        return printed.getvalue().splitlines()

    def test_two_components(self):
        lines = self.run_with("--masses", "1", "10", "--fractions", "0.8", "0.2", "--t-end", "0.4")
        self.assertEqual(lines[0], "Collapse at 0.20000.")
        self.assertTrue(lines[2].endswith("| 50 % | half of mass 1 | half of mass 10 |"), lines[2])
        self.assertEqual([line.split(" | ")[0] for line in lines[4:]], ["| 0.0000", "| 0.0000", "| 0.1000"])
        # The radius of a thousandth is its root.
        self.assertEqual(lines[4], "| 0.0000 | 0.0316 | 0.1000 | 0.2236 | 0.7071 | 0.7071 | 0.7071 |")
        with open(os.path.join(self.folder, "runs", "model.ini"), encoding="utf-8") as file:
            stars = [float(line.split("=")[1]) for line in file if line.startswith("Mstar")]
        # One star in all, of which 1 in 41 is heavy.
        self.assertAlmostEqual(stars[1], 10 * stars[0])
        self.assertAlmostEqual(0.8 / stars[0] + 0.2 / stars[1], 1)

    def test_many_components_have_no_columns_of_their_own(self):
        lines = self.run_with("--mass-function", "2.35", "0.2", "120", "--components", "6")
        self.assertTrue(lines[2].endswith("| 50 % |"), lines[2])
        self.assertEqual(len(lines), 7)

    def test_a_power_law_is_divided(self):
        whole = fokker_planck.power_law(2.35, 0.2, 120, 24)
        self.assertAlmostEqual(sum(part for part, _ in whole), 1)
        mean = 1 / sum(part / mass for part, mass in whole)
        self.assertAlmostEqual(mean, fokker_planck.power_law(2.35, 0.2, 120, 1)[0][1])
        self.assertAlmostEqual(mean, 0.68934, 5)

    def test_components_without_parts_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            self.run_with("--masses", "1", "10")


if __name__ == "__main__":
    unittest.main()
