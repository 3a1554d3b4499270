"""starlab.py: its runs, its errors and its page, with programs that only print."""
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import figure
import starlab

KIRIN = """#!/bin/sh
cat > /dev/null
echo "$*" >> "$(dirname "$0")/calls"
echo "Energies: -0.5 0.25 -0.25" >&2
echo "Energies: -0.5 0.2500001 -0.2500005" >&2
"""
PRINTER = "#!/bin/sh\necho stars\n"


class Starlab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, text in (("kirin", KIRIN), ("makeplummer", PRINTER), ("scale", PRINTER)):
            path = self.path(name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_with(self, *options):
        drawn = []
        arguments = ["starlab.py", self.path("kirin"), self.folder, self.path("kira"), *options]
        with mock.patch.object(sys, "argv", arguments), \
                mock.patch.object(figure, "draw", lambda what, path: drawn.append(what)):
            starlab.main()
        return drawn[0]

    def test_a_run_is_made_once(self):
        drawn = self.run_with("--largest", "512")
        calls = self.read("calls").splitlines()
        self.assertEqual(len(calls), 2 * 2 * 3)
        self.assertTrue(calls[0].endswith("kira -t 0.25 -d 0.25 -D 1 -s 1 -a 0.3 -e 0.00390625"), calls[0])
        text = self.read("kira.md")
        row = next(line for line in text.splitlines() if line.startswith("| 512 | 3.30e-08 | 4.00e-08"))
        self.assertEqual(row.split(" | ")[3], "2.00e-06")
        self.assertIn("| 1024 | 0.27 | 0.29 | - |", text)
        self.assertEqual([c["form"] for c in drawn["columns"][0][0]["data"]["curves"]][:2], ["measured", "published"])
        # Later only what is missing.
        self.run_with("--largest", "1024")
        calls = self.read("calls").splitlines()
        self.assertEqual(len(calls), 12 + 2 * 12)
        self.assertIn("-a 0.025 -e 0.0", calls[-1])
        self.assertEqual(len(json.loads(self.read("kira.json"))["runs"]), len(calls))

    def test_a_run_keeps_its_machine_and_the_page_its_notes(self):
        with mock.patch.object(figure, "machine", lambda: "an EPYC"), mock.patch.object(starlab, "commit", lambda: "0123abcd"):
            self.run_with("--largest", "512")
        kept = json.loads(self.read("kira.json"))
        kept["notes"] = ["kira of this version"]
        # A run is made again, on another machine.
        del kept["runs"]["512 0 0.1"]
        with open(self.path("kira.json"), "w", encoding="utf-8") as file:
            json.dump(kept, file)
        with mock.patch.object(figure, "machine", lambda: "a Xeon"), mock.patch.object(starlab, "commit", lambda: "4567cdef"):
            self.run_with("--largest", "512")
        lines = self.read("kira.md").splitlines()
        self.assertRegex(lines[3], r"^\* machine: an EPYC; load .*; commit 0123abcd$")
        self.assertRegex(lines[4], r"^\* but N = 512, eps = 0, a = 0.1: a Xeon; load .*; commit 4567cdef$")
        self.assertEqual(lines[5], "* kira of this version")
        self.assertIn("--largest 512`", lines[2])

    def test_no_run_begins_after_the_end(self):
        self.run_with("--minutes", "-1")
        self.assertFalse(os.path.exists(self.path("calls")))
        self.assertIn("| 256 | 0.06 | 0.12 | - |", self.read("kira.md"))

    def test_the_published_rows_have_the_published_means(self):
        for eps, means in (("1/256", (12.35, 12.25, 1.48, 2.79, 1.45, 16.42)), ("0", (240, 240, 23.0, 23.5, 1.14, 10.3))):
            for column, published in zip(zip(*starlab.ERRORS[eps].values()), means):
                self.assertLess(abs(sum(column) / len(column) / published - 1), 0.02, (eps, published))

    def test_runs_of_several_threads_say_so(self):
        self.run_with("--largest", "256", "--threads", "2")
        self.assertTrue(self.read("calls").startswith("run --threads 2 "))
        self.assertIn("of one thread; of all 2 threads together for N = 256, eps = 1/256, a = 0.3", self.read("kira.md"))

    def test_a_model_is_scaled_to_standard_units(self):
        root = "  N = 2\n(Log\n  initial_mass = 1\n)Log\n(Dynamics\n  m  =  1\n  r  =  0 0 0\n  v  =  0 0 0\n  com_vel = 0 0 0\n)Dynamics\n"
        stars = ["(Dynamics\n  m  =  0.5\n  r  =  3 1 0\n  v  =  1 0 4e0\n)Dynamics\n)Particle\n",
                 "(Dynamics\n  m  =  0.5\n  r  =  -1 1 0\n  v  =  1 0 0\n)Dynamics\n)Particle\n)Particle\n"]
        asked = []

        def potentials(x, m):
            asked.append((x, m))
            return [-0.125, -0.125]

        made = starlab.scaled("(Particle\n".join(["", root, *stars]), potentials)
        self.assertEqual(asked, [([(2, 0, 0), (-2, 0, 0)], 0.5)])
        self.assertEqual(made.count("(Particle\n"), 3)
        self.assertIn("  initial_total_energy = -0.25\n  initial_rvirial = 1\n", made)
        # Of a potential energy of -1/16 comes -1/2 at an eighth of the size, and of a kinetic energy of 2 comes 1/4.
        self.assertIn("  r  =  0.25 0 0\n  v  =  0 0 0.70710678118654757\n)Dynamics", made)
        self.assertIn("  r  =  -0.25 0 0\n  v  =  0 0 -0.70710678118654757\n)Dynamics", made)

    def test_a_log_without_energies_is_an_error(self):
        with self.assertRaises(ValueError):
            starlab.error_of("Energies: 1 2 3\n")


if __name__ == "__main__":
    unittest.main()
