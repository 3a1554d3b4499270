"""benches/verdict.py on what commands have printed (a fake device: the figures mean nothing)."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import verdict  # noqa: E402

PLAN = """
launches of the force kernel: 132 multiprocessors of compute capability 9.0, precision mixed
  predicted from counted instructions at 1.98 GHz, not measured: microseconds of the kernel, and
  pairs a second as a share of what the issue slots allow
        nj       ni         us  share    limit  launch
      1024        1        2.3   0.00    waits  1 x 2 blocks of 16 x 8 threads, 1 i a thread
     16384      256       90.0   0.83    pairs  16 x 8 blocks of 16 x 8 threads, 1 i a thread
"""
SMALL = """$ small
      nj     ni nearest join         us
    1024      1       0 auto       14.0
    1024      1       1 host       81.0
"""


def figure(seconds):
    return {"seconds": seconds and {"lower": 0, "median": seconds, "upper": 0}, "rate": None}


def bench(seconds):
    libraries = [{"npipes": 256}, {"npipes": 48}]
    cells = [
        {"n": 16384, "case": "force", "ni": "full", "figures": [figure(seconds), figure(1.0)]},
        {"n": 16384, "case": "force", "ni": {"block": 256}, "figures": [figure(300e-6), figure(None)]},
        {"n": 16384, "case": "load", "ni": {"block": 1}, "figures": [figure(1e-3), figure(1e-3)]},
    ]
    return json.dumps({"libraries": libraries, "cells": cells})


class Verdicts(unittest.TestCase):
    def report(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                pathlib.Path(folder, name).write_text(text)
            return verdict.report(pathlib.Path(folder))

    def test_plans(self):
        self.assertEqual(verdict.plans(PLAN), {(1024, 1): (2.3, "waits"), (16384, 256): (90.0, "pairs")})

    def test_each_block_is_told_what_it_was_predicted_to_take(self):
        # The time of `full` is that of a call for 256: 90 us of the kernel, a copy, a launch, the way, the host's work.
        whole = 90.0 + 2 * 3.9 + 5.4 + 256 * 0.05
        files = {"plan-mixed.txt": PLAN, "bench-mixed.json": bench(1.2e-6 * whole), "small-blocks.txt": SMALL}
        text, well = self.report(files)
        lines = [line for line in text.splitlines() if line.startswith("mixed, ")]
        verdicts = [line.split("  ")[-1] for line in lines]
        # Nobody has planned blocks of 48; loading is no block.
        self.assertEqual(len(lines), 4, text)
        self.assertEqual(verdicts, ["as predicted", "slower: doubt pairs", "as predicted", "slower: doubt overhead"])
        self.assertIn(f"{whole:14.1f} {1.2 * whole:14.1f}    1.20", lines[0])
        # 2.3 us of the kernel, two launches, the way, the prediction, a particle out and in.
        self.assertIn(f"{19.7:14.1f} {14.0:14.1f}    0.71", lines[2])
        self.assertTrue(well)

    def test_a_step_with_updates_is_predicted_with_its_writes(self):
        document = json.loads(bench(1.0))
        document["cells"] = [{"n": 1024, "case": "step", "ni": {"block": 1}, "figures": [figure(20e-6), figure(None)]}]
        text, _ = self.report({"plan-mixed.txt": PLAN, "bench-mixed.json": json.dumps(document)})
        lines = [line for line in text.splitlines() if line.startswith("mixed, step")]
        # 2.3 us of the kernel, two launches, the way, the prediction, a particle out and in.
        self.assertEqual(len(lines), 1, text)
        self.assertIn(f"{19.7:14.1f} {20.0:14.1f}", lines[0])

    def test_an_assumption_is_wrong_where_the_median_is(self):
        files = {"plan-mixed.txt": PLAN, "bench-mixed.json": bench(0.1), "small-blocks.txt": SMALL}
        text, _ = self.report(files)
        said = {line.split()[0]: line for line in text.splitlines() if "holds:" in line or "WRONG:" in line}
        self.assertEqual(set(said), {"pairs", "overhead"})
        self.assertIn("WRONG: issue slots", said["pairs"])
        self.assertIn("WRONG: 3.9 us a launch", said["overhead"])

    def test_results_that_miss_a_limit_are_a_failure(self):
        files = {"plan-mixed.txt": PLAN, "small-blocks.txt": SMALL}
        good = "libraries\n\n\nkirin is within every limit.\n"
        bad = "libraries\n\n\nkirin misses:\n  scene: acc rms is 2.0e-7, limit 1.0e-7\n"
        self.assertTrue(self.report({**files, "check-mixed.txt": good})[1])
        text, well = self.report({**files, "check-mixed.txt": good, "check-double.txt": bad})
        self.assertIn("acc rms is 2.0e-7", text)
        self.assertFalse(well)

    def test_the_verdict_of_the_results_is_what_the_script_writes(self):
        folder = pathlib.Path(verdict.__file__).parent / "results/gpu-h100"
        command, written = (folder / "verdict.txt").read_text().split("\n", 1)
        self.assertEqual(command, "$ benches/verdict.py benches/results/gpu-h100")
        self.assertEqual(verdict.report(folder)[0], written)

    def test_nothing_measured_is_a_failure(self):
        self.assertFalse(self.report({})[1])


if __name__ == "__main__":
    unittest.main()
