"""What the architectures have per multiprocessor, and how many warps fit.

Numbers from the tables of compute capabilities in NVIDIA's CUDA C++ programming guide.
"""

from collections import namedtuple

Architecture = namedtuple(
    "Architecture",
    "warps blocks shared reserved granularity warp_unit fp32 fp64 special",
)
# Most warps and blocks; shared memory, its share taken by the system a block, and the unit it is
# given out in, in bytes; unit in which warps are given registers; lanes a clock for single and
# double precision and special functions (reciprocal roots, conversions of doubles).
KIB = 1024
ARCHITECTURES = {
    "sm_60": Architecture(64, 32, 64 * KIB, 0, 256, 2, 64, 32, 16),
    "sm_61": Architecture(64, 32, 96 * KIB, 0, 256, 4, 128, 4, 32),
    "sm_70": Architecture(64, 32, 96 * KIB, 0, 256, 4, 64, 32, 16),
    "sm_75": Architecture(32, 16, 64 * KIB, 0, 256, 4, 64, 2, 16),
    "sm_80": Architecture(64, 32, 164 * KIB, KIB, 128, 4, 64, 32, 16),
    "sm_86": Architecture(48, 16, 100 * KIB, KIB, 128, 4, 128, 2, 16),
    "sm_89": Architecture(48, 24, 100 * KIB, KIB, 128, 4, 128, 2, 16),
    "sm_90": Architecture(64, 32, 228 * KIB, KIB, 128, 4, 128, 64, 16),
    "sm_100": Architecture(64, 32, 228 * KIB, KIB, 128, 4, 128, 64, 16),
    "sm_103": Architecture(64, 32, 228 * KIB, KIB, 128, 4, 128, 2, 16),
    "sm_120": Architecture(48, 24, 100 * KIB, KIB, 128, 4, 128, 2, 16),
}
# Warp schedulers that issue an instruction a clock: half of what others have.
HALF = {"sm_60"}
REGISTERS = 65536
REGISTER_UNIT = 256
WARP = 32
SCHEDULERS = 4

# A device of each architecture for which a rate is computed: name, multiprocessors, clock in GHz.
EXAMPLES = {"sm_80": ("A100", 108, 1.41), "sm_90": ("H200", 132, 1.98)}


# A card of each architecture, for the table of cards: name, multiprocessors, and the clock in GHz that its maker calls
# boost.
CARDS = [
    ("Tesla P100", "sm_60", 56, 1.48),
    ("GTX 1080", "sm_61", 20, 1.73),
    ("Tesla V100", "sm_70", 80, 1.53),
    ("RTX 2080", "sm_75", 46, 1.71),
    ("A100", "sm_80", 108, 1.41),
    ("RTX 3090", "sm_86", 82, 1.70),
    ("RTX 4090", "sm_89", 128, 2.52),
    ("H100", "sm_90", 132, 1.98),
    ("B200", "sm_100", 148, 1.96),
    ("RTX 5090", "sm_120", 170, 2.41),
]


def round_up(value, unit):
    return -(-value // unit) * unit


def occupancy(name, threads, registers, shared):
    """Warps resident on a multiprocessor and what limits them, or None for an architecture that
    is not in the table."""
    at = ARCHITECTURES.get(name)
    if at is None or not threads:
        return None
    warps = round_up(threads, WARP) // WARP
    fitting = REGISTERS // round_up(max(registers, 1) * WARP, REGISTER_UNIT) // at.warp_unit * at.warp_unit
    blocks = {"warps": at.warps // warps, "blocks": at.blocks, "registers": fitting // warps}
    taken = round_up(shared + at.reserved, at.granularity)
    if taken:
        blocks["shared memory"] = at.shared // taken
    limit = min(blocks, key=blocks.get)
    return blocks[limit] * warps, limit


def rate(name, slots, mix, multiprocessors, clock):
    """Pairs per second and what limits them: issue slots, or a unit that takes several clocks for
    the instructions of a warp. Computed: latency, barriers and memory are left out."""
    at = ARCHITECTURES[name]
    lanes = WARP * SCHEDULERS
    clocks = {
        "issue": slots,
        "fp32": (mix["FADD"] + mix["FFMA"] + mix["FMUL"]) * lanes / at.fp32,
        "fp64": (mix["DADD"] + mix["DFMA"] + mix["DMUL"] + mix["DSETP"]) * lanes / at.fp64,
        "special": mix["MUFU"] * lanes / at.special,
    }
    limit = max(clocks, key=clocks.get)
    return multiprocessors * lanes * clock * 1e9 / clocks[limit], limit


def loop_rate(name, row, warps, multiprocessors, clock):
    """Pairs per second of a pair loop with all that is around it and so many resident warps, and what limits them:
    the units of `rate`, joining in double precision, or waiting where too few warps fill the issue slots."""
    at = ARCHITECTURES[name]
    lanes = WARP * SCHEDULERS
    schedulers = SCHEDULERS // 2 if name in HALF else SCHEDULERS
    mix = row["mix"]
    single = mix["FADD"] + mix["FFMA"] + mix["FMUL"]
    double = mix["DADD"] + mix["DFMA"] + mix["DMUL"] + mix["DSETP"] + row["doubles"]
    clocks = {
        "issue": row["page"] * SCHEDULERS / schedulers,
        "fp32": single * lanes / at.fp32,
        "fp64": double * lanes / at.fp64,
        "special": mix["MUFU"] * lanes / at.special,
        "waits": row["page"] * SCHEDULERS / (row["alone"] * warps),
    }
    limit = max(clocks, key=clocks.get)
    return multiprocessors * lanes * clock * 1e9 / clocks[limit], limit
