"""Tests of what kernels/sass.py and kernels/build.py stand on; they need neither wheels nor a GPU.

    python3 -m unittest discover -s kernels/tests
"""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import build  # noqa: E402
import sass  # noqa: E402
from tools import control, devices, disassembly, loops, ptxas, slots  # noqa: E402


def functions():
    return disassembly.parse((HERE / "nested.sass").read_text())


class Disassembly(unittest.TestCase):
    def test_functions_instructions_and_labels(self):
        found = functions()
        self.assertEqual(list(found), ["pairs", "straight"])
        code = found["pairs"].code
        self.assertEqual([at.address for at in code], list(range(0, 0x2D0, 0x10)))
        branch = code[0x18]
        self.assertEqual((branch.guard, branch.opcode, branch.labels()), (None, "BRA.U", [".MASKED"]))
        self.assertEqual(found["pairs"].labels[".MASKED"], 0x15)


class ControlBits(unittest.TestCase):
    def instruction(self, opcode, upper):
        made = disassembly.Instruction(0, None, opcode, "")
        made.upper = upper
        return made

    def upper(self, stall, raises=7, waits=0):
        return stall << 41 | raises << 46 | 7 << 49 | waits << 52

    def test_they_are_read_behind_their_instruction(self):
        text = """
	.section	.text.toy,"ax",@progbits
        /*0080*/                   MUFU.RSQ R6, R2 ;   /* 0x0000000200067308 */
                                                       /* 0x001e240000001400 */
"""
        only = disassembly.parse(text)["toy"].code[0]
        self.assertEqual(only.upper, 0x001E240000001400)
        bits = control.Control(only.upper)
        self.assertEqual((bits.stall, bits.raises, bits.waits), (2, [0], [0]))

    def test_a_warp_alone_waits_for_its_stalls_and_counters(self):
        stalls = [self.instruction("FADD", self.upper(n)) for n in (4, 1, 2, 1)]
        self.assertEqual(control.clocks(stalls), 8)
        self.assertEqual(control.alone(stalls), 0.5)
        root = self.instruction("MUFU.RSQ", self.upper(1, raises=3))
        use = self.instruction("FMUL", self.upper(4, waits=1 << 3))
        self.assertEqual(control.clocks([root, use]), control.LATENCY["MUFU"] + 4)
        # No wait behind as much else.
        self.assertEqual(control.clocks([root] + stalls * 3 + [use]), 1 + 24 + 4)

    def test_other_text_has_none(self):
        self.assertIsNone(control.alone(functions()["pairs"].code))


class Loops(unittest.TestCase):
    def setUp(self):
        self.function = functions()["pairs"]
        self.blocks = loops.blocks_of(self.function)
        self.loops = loops.loops_of(self.blocks)

    def place(self, loop):
        """The label in front of a loop."""
        begin = self.blocks[loop.header].begin
        return next(label for label, n in self.function.labels.items() if n == begin)

    def test_nesting(self):
        parents = {self.place(loop): loop.parent and self.place(loop.parent) for loop in self.loops}
        expected = {".PAGE": None, ".COPY": ".PAGE", ".LEAF": ".PAGE", ".PLAIN": ".LEAF", ".MASKED": ".LEAF"}
        self.assertEqual(parents, expected)  # without the endless loop at the end, which is never entered

    def test_a_barrier_used_twice_leads_to_the_nearer_place(self):
        for address, label in ((0x190, ".JOINED"), (0x1E0, ".ROOTED")):
            self.assertEqual(loops.rejoin(self.function, address // 0x10), [label])

    def test_a_barrier_of_another_branch_is_not_mixed_up(self):
        text = """
	.section	.text.branches,"ax",@progbits
        /*0000*/                   BSSY B0, `(.FAR) ;
        /*0010*/               @P0 BRA `(.LAST) ;
        /*0020*/                   BSSY B0, `(.NEAR) ;
        /*0030*/                   BSYNC B0 ;
.NEAR:
        /*0040*/                   EXIT ;
.LAST:
        /*0050*/                   BSYNC B0 ;
.FAR:
        /*0060*/                   EXIT ;
"""
        function = disassembly.parse(text)["branches"]
        self.assertEqual((loops.rejoin(function, 3), loops.rejoin(function, 5)), ([".NEAR"], [".FAR"]))

    def test_ptxas_leaves_loops_by_calls(self):
        leaves, calls = self.function.code[0x24], self.function.code[0x1D]
        self.assertTrue(loops.is_jump(leaves) and not loops.is_call(leaves))
        self.assertTrue(loops.is_call(calls) and not loops.is_jump(calls))


class Slots(unittest.TestCase):
    def setUp(self):
        # 512 bytes a turn of COPY in 32 threads; 2048 to fill.
        self.plain, self.masked = slots.pair_loops(functions()["pairs"], 32, 2048)

    def test_pair_loops(self):
        self.assertEqual((self.plain.address, self.plain.pairs, self.plain.inner()), (0x90, 2, 3.5))
        self.assertEqual((self.masked.address, self.masked.pairs, self.masked.inner()), (0x150, 1, 4.0))
        self.assertEqual(slots.pair_loops(functions()["straight"]), [])

    def test_mix(self):
        mix = self.plain.mix()
        present = {kind: n for kind, n in mix.items() if n}
        self.assertEqual(present, {"FADD": 0.5, "FFMA": 1.0, "MUFU": 1.0, "LDS": 0.5, "other": 0.5})
        self.assertEqual(self.masked.mix()["SELECT"], 2.0)
        self.assertAlmostEqual(sum(mix.values()), self.plain.inner())

    def test_the_longest_way_round(self):
        # BSSY BRA | the loop, BRA | BSYNC | BSSY BRA BSYNC | BRA DADD DADD BRA; not the call.
        self.assertEqual(vars(self.plain.around[0]), {"slots": 11, "pairs": 0, "doubles": 2})
        # One pair was taken out of the masked loop: four more instructions, no BRA behind it.
        self.assertEqual(vars(self.masked.around[0]), {"slots": 14, "pairs": 1, "doubles": 2})
        # LDG ISETP | 4 turns of COPY, 3 each | BAR | the leaves | ISETP CALL BRA.
        for loop in (self.plain, self.masked):
            self.assertEqual(vars(loop.around[1]), {"slots": 18, "pairs": 0, "doubles": 0})

    def test_ways_that_read_the_clock_are_left_out(self):
        text = """
	.section	.text.again,"ax",@progbits
.PAGE:
        /*0000*/                   IADD3 R0, R0, 0x1, RZ ;
.PAIRS:
        /*0010*/                   MUFU.RSQ R14, R13 ;
        /*0020*/               @P0 BRA `(.PAIRS) ;
        /*0030*/              @!P1 BRA `(.SOUND) ;
        /*0040*/                   CS2R.32 R4, SR_CLOCKLO ;
.AGAIN:
        /*0050*/                   MUFU.RSQ64H R14, R13 ;
        /*0060*/               @P2 BRA `(.AGAIN) ;
        /*0070*/                   CS2R.32 R5, SR_CLOCKLO ;
.SOUND:
        /*0080*/               @P3 BRA `(.PAGE) ;
        /*0090*/                   EXIT ;
"""
        (only,) = slots.pair_loops(disassembly.parse(text)["again"])
        self.assertEqual((only.address, only.inner()), (0x10, 2.0))
        self.assertEqual(vars(only.around[0]), {"slots": 3, "pairs": 0, "doubles": 0})
        (_, other) = slots.pair_loops(disassembly.parse(text.replace("SR_CLOCKLO", "SR_TID.X"))["again"])
        self.assertEqual((other.address, other.around[0].slots), (0x50, 7))

    def test_shares(self):
        turn = slots.Turn(32, 64, 512)
        self.assertAlmostEqual(self.plain.with_leaf(turn), 3.5 + 11 / 64)
        self.assertAlmostEqual(self.masked.with_leaf(turn), (14 + 63 * 4) / 64)
        self.assertAlmostEqual(self.plain.with_page(turn), 3.5 + 11 / 64 + 18 / 512)

    def test_runs_of_a_leaf(self):
        turn = slots.Turn(32, 64, 512)
        around = [slots.Around(6, 1, 0), slots.Around(20, 0, 7), slots.Around(100, 0, 16)]
        loop = slots.PairLoop(0, self.plain.instructions, 0, around)
        leaf = 3.5 + 2 * (6 - 3.5) / 64 + 20 / 64
        self.assertAlmostEqual(loop.with_leaf(turn), leaf)
        self.assertAlmostEqual(loop.with_page(turn), leaf + 100 / 512)
        self.assertAlmostEqual(loop.doubles(turn), 7 / 64 + 16 / 512)


class Limits(unittest.TestCase):
    def complaints(self, *options, spills=0):
        with mock.patch.object(sys, "argv", ["sass.py", *options]):
            given = sass.arguments()
        found = slots.pair_loops(functions()["pairs"], 32, 2048)
        rows = sass.tell_masks([sass.measure_loop(loop, "pairs_1", "sm_90", given) for loop in found])
        self.assertEqual([row["masked"] for row in rows], [False, True])
        kernel = {"kernel": "pairs_1", "spills": spills}
        return list(sass.complaints({"architectures": [{"name": "sm_90", "kernels": [kernel], "loops": rows}]}, given))

    def test_limits(self):
        self.assertEqual(self.complaints(), [])
        self.assertEqual(self.complaints("--limit", "5"), [])
        self.assertEqual(len(self.complaints("--limit", "4")), 1)
        self.assertEqual(len(self.complaints("--limit", "4", "--masked-extra", "0.5")), 0)
        self.assertEqual(len(self.complaints("--limit", "3.6")), 2)
        self.assertEqual(len(self.complaints("--limit", "3.6", "--limit-of", "inner")), 1)
        self.assertEqual(len(self.complaints("--limit", "5", spills=8)), 1)
        # Nothing to check is a complaint too.
        self.assertEqual(len(self.complaints("--limit-nearest", "1")), 1)
        self.assertEqual(len(self.complaints("--limit", "5", "--limit-kernels", "pairs_2")), 1)

    def test_several_limits(self):
        def limits(*of_each):
            return self.complaints(*(word for four in of_each for word in ("--limits", *four.split())))

        self.assertEqual(limits("pairs_1 5 1 0"), [])
        self.assertEqual(len(limits("pairs_1 5 1 0", "pairs_.* 3.6 1 0")), 2)
        self.assertEqual(len(limits("pairs_1 4 1 0.5", "pairs_2 5 5 0")), 1)
        self.assertEqual(len(self.complaints("--limits", "pairs_1", "5", "5", "0", spills=8)), 1)


class Devices(unittest.TestCase):
    def test_occupancy(self):
        self.assertEqual(devices.occupancy("sm_90", 128, 32, 0), (64, "warps"))
        self.assertEqual(devices.occupancy("sm_90", 128, 126, 24576), (16, "registers"))
        self.assertEqual(devices.occupancy("sm_90", 128, 32, 100000), (8, "shared memory"))
        self.assertEqual(devices.occupancy("sm_90", 32, 32, 0), (32, "blocks"))
        self.assertIsNone(devices.occupancy("sm_12", 128, 32, 0))

    def test_rate(self):
        mix = dict.fromkeys(slots.GROUPS + ["other"], 0.0) | {"FFMA": 33.0, "MUFU": 1.0}
        rate, limit = devices.rate("sm_90", 36.0, mix, 132, 1.98)
        self.assertEqual((round(rate / 1e12, 3), limit), (0.929, "issue"))
        rate, limit = devices.rate("sm_80", 36.0, mix, 108, 1.41)
        self.assertEqual((round(rate / 1e12, 3), limit), (0.295, "fp32"))


class Reports(unittest.TestCase):
    def test_ptxas(self):
        text = """ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
    168 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 78 registers, 24968 bytes smem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, 392 bytes cmem[0]
"""
        found = ptxas.resources(text, {"a": 128})
        self.assertEqual(
            vars(found["a"]), {"registers": 78, "stack": 168, "spills": 20, "shared": 24968, "threads": 128}
        )
        self.assertEqual((found["b"].registers, found["b"].shared, found["b"].threads), (16, 0, None))

    def test_launch_bounds(self):
        ptx = ".visible .entry a(\n\t.param .b8 a[8]\n)\n.maxntid 128, 2, 1\n{\n}\n.visible .entry b(\n)\n{\n}\n"
        self.assertEqual(ptxas.most_threads(ptx), {"a": 256})


class Declared(unittest.TestCase):
    def test_kernels_of_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "kirin.cuh").write_text(
                "#define KERNEL(name, Args, threads) \\\n    __global__ void __launch_bounds__(threads) name(const Args a)\n"
                "#define KERNEL(name, Args, threads) static void name(const Args& a)\n"
            )
            (folder / "many.cuh").write_text(
                'extern "C" __global__ void plain(int n) {}\n'
                "#define ONE(name, tile) KERNEL(sum_##name##_##tile, Args, 64) { sum<tile>(a); }\n"
                "#define MANY(Type, name) \\\n    ONE(name##_near, 1) \\\n    KERNEL(sum_##name##_2, Args, 64) {}\n"
            )
            module = folder / "module.cu"
            module.write_text('#include "many.cuh"\nMANY(Float, mixed)\nKERNEL(own, Args, 32) {}\n// KERNEL(gone, Args, 32)\n')
            self.assertEqual(build.declared(module), {"sum_mixed_near_1", "sum_mixed_2", "own", "plain"})


if __name__ == "__main__":
    unittest.main()
