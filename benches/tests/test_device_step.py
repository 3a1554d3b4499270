"""device_step.py: what it reads from the driver's log, what it makes of opcodes, and its bounds."""
import argparse
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import device_step

LOG = """count blocks 12
count kernel:relax 1
count warps:relax 4
count threads:relax 100
count warps:relax:div.rn.f64 8
count threads:relax:div.rn.f64 128
count warps:relax:ld.global.v2.f64 4
count threads:relax:ld.global.v2.f64 100
count cuLaunchKernel 2
total 30
"""
CARD = argparse.Namespace(multiprocessors=2, clock=1.0, bandwidth=1e-3, resident=32, wait=10, load=300, shared=30, launch=5)

PROGRAM = """#!/bin/sh
steps=0
while [ $# -gt 0 ]; do
    case $1 in
    --steps) steps=$2 ;;
    --json) file=$2 ;;
    --device) device=$2 ;;
    esac
    shift
done
[ "$device" = cpu ] || { echo "no GPU" >&2; exit 1; }
echo "{\\"phases\\": {\\"sort\\": $(($steps + 3)), \\"relaxation\\": $((2 * $steps))}}" > "$file"
"""


class Counts(unittest.TestCase):
    def test_the_log_is_read_and_the_steps_before_are_taken_off(self):
        counts = device_step.read(LOG)
        self.assertEqual(list(counts), ["relax"])
        relax = counts["relax"]
        self.assertEqual((relax.launches, relax.warps, relax.threads), (1, 4, 100))
        self.assertEqual(relax.opcodes["div.rn.f64"], (8, 128))
        twice = device_step.read(LOG.replace("kernel:relax 1", "kernel:relax 2").replace("div.rn.f64 8", "div.rn.f64 20"))
        rest = device_step.less(twice, counts)["relax"]
        self.assertEqual((rest.launches, rest.warps, rest.opcodes["div.rn.f64"]), (1, 0, (12, 0)))
        self.assertEqual(device_step.less(counts, {})["relax"], relax)

    def test_counts_are_kept(self):
        counts = device_step.read(LOG)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "counts.json")
            self.assertEqual(device_step.kept(file, 100, lambda: counts), counts)
            self.assertEqual(device_step.kept(file, 100, self.fail), counts)
            with self.assertRaises(SystemExit):
                device_step.kept(file, 101, self.fail)

    def test_opcodes(self):
        for opcode, expected in [("div.rn.f64", (12, 8)), ("sqrt.rn.f64", (14, 8)), ("add.s64", (2, 0)), ("add.f64", (1, 1)), ("setp.lt.f64", (1, 1)),
                                 ("mov.f64", (1, 0)), ("ld.global.f64", (1, 0)), ("selp.f64", (1, 0)), ("mad.lo.s32", (1, 0))]:
            self.assertEqual(device_step.weight(opcode), expected, opcode)
        for opcode, expected in [("ld.global.v2.f64", 16), ("st.global.u32", 4), ("ld.global.cg.u64", 8), ("ld.global.nc.v4.u32", 16),
                                 ("atom.global.add.u32", 4), ("ld.shared.f64", 0), ("ld.param.u64", 0)]:
            self.assertEqual(device_step.bytes_of(opcode), expected, opcode)

    def test_the_longest_of_four_times(self):
        cost = device_step.Cost(device_step.read(LOG)["relax"])
        self.assertEqual((cost.instructions, cost.doubles, cost.bytes, cost.loads), (12 * 8 + 4, 64, 1600, 4))
        # 8 schedulers and 128 lanes of double precision at 1 GHz, 1 GB/s; a warp alone has 25 instructions and one load.
        expected = [100 / 8e9, 64 * 32 / 128e9, 1600 / 1e9, (250 + 300) / 1e9]
        for found, bound in zip(cost.bounds(CARD), expected):
            self.assertAlmostEqual(found / bound, 1)
        self.assertAlmostEqual(cost.seconds(CARD), 1.6e-6 + 5e-6)
        lines = device_step.counts_table({"relaxation": {"relax": cost}}, 100, CARD)
        self.assertIn("| `relax` | relaxation | 1 | 1.0 | 0.6 | 0.51 | 16 |", lines[2])


class Measured(unittest.TestCase):
    def test_phases_of_a_step_and_cells_that_need_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "monte-carlo")
            with open(program, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            os.chmod(program, 0o755)
            here = device_step.measured(program, 1000, 5, "cpu")
            self.assertEqual(here, {"sort": 1.0, "relaxation": 2.0})
        with unittest.mock.patch.object(device_step, "PHASES", {"sort": [], "relaxation": []}):
            prediction = {"sort": 1e-3, "relaxation": 1e-2}
            lines = device_step.speed_table([(2000, here, None), (1000, here, {"sort": 0.25, "relaxation": 0.5})], prediction, 1000)
        self.assertEqual(lines[2:5], ["| 2000 | sort | 1000.0 | - (2.00) | - (500) |  |", "| 2000 | relaxation | 2000.0 | - (20.00) | - (100) |  |",
                                      "| 2000 | all | 3000.0 | - (22.00) | - (136) |  |"])
        self.assertEqual(lines[5], "| 1000 | sort | 1000.0 | 250.00 (1.00) | 4 (1000) |  |")


if __name__ == "__main__":
    unittest.main()
