"""What one warp alone needs for a loop, from the control bits of its instructions.

From Volta on every instruction says how many clocks its warp waits before the next one may be issued, which of
six counters it raises until its result (or its operands' use) is there, and for which counters it waits
itself. The bits are where Jia et al. 2018 (arXiv:1804.06826) found them: in the upper half of the 128 bits.
"""

# Clocks until a counter is back, of what a pair loop waits for; others count as the slowest one. About what
# the same paper and its successors measured for shared memory, special functions and double precision, Volta to
# Hopper; where that has few lanes its width is what limits.
LATENCY = {"LDS": 30, "MUFU": 24, "DADD": 10, "DFMA": 10, "DMUL": 10, "DSETP": 10}
SLOWEST = max(LATENCY.values())
# Turns until the order of waits repeats.
TURNS = 4
NONE = 7


class Control:
    """The control bits of an instruction."""

    def __init__(self, upper):
        self.stall = max(1, upper >> 41 & 15)
        self.raises = [n for n in (upper >> 46 & 7, upper >> 49 & 7) if n != NONE]
        self.waits = [n for n in range(6) if upper >> 52 >> n & 1]


def clocks(instructions):
    """Clocks of one turn of a loop that a warp runs alone."""
    counters = [0] * 8
    now, turns = 0, []
    for _ in range(TURNS):
        for at in instructions:
            control = Control(at.upper)
            now = max([now] + [counters[n] for n in control.waits])
            for n in control.raises:
                counters[n] = now + LATENCY.get(at.name, SLOWEST)
            now += control.stall
        turns.append(now)
    return turns[-1] - turns[-2]


def alone(instructions):
    """Share of the issue slots that a warp fills alone in a loop; None where the bits are not known."""
    if any(at.upper is None for at in instructions):
        return None
    return len(instructions) / clocks(instructions)
