"""Issue slots per pair: every instruction of the pair loops, and a share of what is around them.

A pair needs exactly one reciprocal root, so the roots in a loop's body count its pairs. Each
instruction takes one issue slot.

Ways on which a kernel reads the clock are rare and are not counted: leaves that are summed again
(kernels/resum.cuh), which take their time for the statistics.
"""

from collections import namedtuple

from . import loops

GROUPS = ["FADD", "FFMA", "FMUL", "DADD", "DFMA", "DMUL", "DSETP", "MUFU", "LDS", "SELECT", "FMNMX"]
SELECTS = {"FSEL", "FSETP", "FSET", "ISETP", "SEL", "ISEL"}
DOUBLES = {"DADD", "DFMA", "DMUL", "DSETP", "DMNMX"}
CONVERSIONS = {"F2F", "F2I", "I2F"}
NOTHING = (0, 0, 0)
STORED = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}


def group(instruction):
    """The column of the mix that an instruction belongs to."""
    name = instruction.name
    if name in SELECTS:
        return "SELECT"
    return name if name in GROUPS else "other"


def is_root(instruction):
    return instruction.opcode.startswith("MUFU.RSQ")


class Around:
    """One turn of a loop around a pair loop, along its longest way, the pair loop left out."""

    def __init__(self, slots, pairs, doubles):
        self.slots = slots
        self.pairs = pairs  # first or last pairs, taken out of the pair loop by the compiler
        self.doubles = doubles  # instructions in the pipe of double precision


# Pairs of a turn of the loops over runs, leaves and pages.
Turn = namedtuple("Turn", "run leaf page")


class PairLoop:
    """One innermost loop over pairs."""

    def __init__(self, address, instructions, cold, around):
        self.address = address
        self.instructions = instructions
        self.pairs = sum(map(is_root, instructions))
        self.cold = cold  # number of instructions on ways to subroutines
        self.around = around  # from the inside

    def inner(self):
        """Issue slots per pair of the loop alone."""
        return len(self.instructions) / self.pairs

    def with_leaf(self, turn):
        """The same with its share of the loops around it, up to that over leaves. `turn` has the pairs that a turn of
        the loops over runs, leaves and pages handles."""
        return self.with_levels(turn, max(1, len(self.around) - 1))

    def with_page(self, turn):
        """The same with the loop over pages too."""
        return self.with_levels(turn, len(self.around))

    def with_levels(self, turn, count):
        total = self.inner()
        for level, around in enumerate(self.around[:count]):
            total += (around.slots - self.inner() * around.pairs) / self.pairs_of(turn, level)
        return total

    def pairs_of(self, turn, level):
        """Pairs of a turn of a loop around the pair loop: the outermost is that over pages; of several others the
        innermost is that over the runs of a leaf."""
        if level and level == len(self.around) - 1:
            return turn.page
        return turn.run if level == 0 and len(self.around) > 2 else turn.leaf

    def doubles(self, turn):
        """Instructions in the pipe of double precision per pair, of the loops around it alone."""
        return sum(around.doubles / self.pairs_of(turn, level) for level, around in enumerate(self.around))

    def mix(self):
        """Issue slots per pair by kind of instruction."""
        counts = dict.fromkeys(GROUPS + ["other"], 0)
        for instruction in self.instructions:
            counts[group(instruction)] += 1
        return {kind: count / self.pairs for kind, count in counts.items()}


def is_double(instruction):
    """Whether an instruction is carried out in double precision, conversions too."""
    return instruction.name in DOUBLES or (instruction.name in CONVERSIONS and "F64" in instruction.opcode)


def size_of(code, turns=1):
    """Issue slots, pairs and instructions in double precision of some code."""
    return len(code) * turns, sum(map(is_root, code)), sum(map(is_double, code)) * turns


def both(one, other):
    return tuple(map(sum, zip(one, other)))


def reads_clock(instruction):
    return "SR_CLOCK" in instruction.operands


def stored_bytes(code):
    """Bytes that one thread puts into shared memory."""
    total = 0
    for at in code:
        if at.name in ("STS", "LDGSTS"):
            width = [part for part in at.opcode.split(".") if part in STORED]
            total += STORED[width[0]] if width else 4
    return total


class Flow:
    """A function as blocks and loops."""

    def __init__(self, function, threads, shared):
        self.function = function
        self.blocks = loops.blocks_of(function)
        self.loops = loops.loops_of(self.blocks)
        self.threads = threads or 0
        self.shared = shared
        self.usual = self.reachable_without_clock()

    def reachable_without_clock(self):
        """The blocks that are reached without a look at the clock."""
        found, ahead = set(), [0]
        while ahead:
            n = ahead.pop()
            if n not in found and not any(map(reads_clock, self.code([n]))):
                found.add(n)
                ahead += self.blocks[n].next
        return found

    def code(self, chosen):
        """The instructions of some blocks."""
        blocks = [self.blocks[n] for n in sorted(chosen)]
        return [at for block in blocks for at in self.function.code[block.begin : block.end]]

    def is_cold(self, n):
        """Whether a block calls a subroutine: for denormals and the like, not for ordinary numbers."""
        return any(map(loops.is_call, self.code([n])))

    def has_pairs(self, loop):
        return any(map(is_root, self.code(loop.blocks)))

    def turns(self, beside):
        """How often loops beside a pair loop go round: those that fill shared memory until it is
        full, all others once."""
        filling = {loop.header: stored_bytes(self.code(loop.blocks)) for loop in beside}
        turn = sum(filling.values()) * self.threads
        full = max(1, -(-self.shared // turn)) if turn else 1
        return {header: full if stored else 1 for header, stored in filling.items()}

    def around(self, outer, inner):
        """One turn of `outer`, in which `inner` lies, on its longest way through `inner`."""
        # Inner loops become single nodes, named after their headers.
        node = {n: child.header for child in outer.children for n in child.blocks}
        size, edges = {}, {}
        beside = [child for child in outer.children if child is not inner and child.header in self.usual]
        turns = self.turns([child for child in beside if not self.has_pairs(child)])
        size[inner.header] = NOTHING
        for child in beside:
            code = self.code(child.blocks)
            size[child.header] = size_of(code, turns.get(child.header, 1))
        for n in outer.own_blocks():
            code = self.code([n])
            size[n] = NOTHING if self.is_cold(n) else size_of(code)
        for n in outer.blocks & self.usual:
            for to in self.blocks[n].next & outer.blocks & self.usual - {outer.header}:
                if node.get(n, n) != node.get(to, to):
                    edges.setdefault(node.get(n, n), set()).add(node.get(to, to))
        backwards = {}
        for n, targets in edges.items():
            for to in targets:
                backwards.setdefault(to, set()).add(n)
        before, after = longest(inner.header, backwards, size), longest(inner.header, edges, size)
        return Around(*both(before, after))


def longest(start, edges, size):
    """The greatest sum of sizes on a way from `start`, whose own size is left out."""
    known, open_nodes = {}, set()

    def beyond(n):
        if n not in known:
            open_nodes.add(n)
            ways = [beyond(to) for to in edges.get(n, ()) if to not in open_nodes]
            open_nodes.discard(n)
            own = NOTHING if n == start else size[n]
            known[n] = both(max(ways, default=NOTHING), own)
        return known[n]

    return beyond(start)


def pair_loops(function, threads=None, shared=0):
    """The pair loops of a function; `threads` a block and static `shared` bytes tell how long
    the loops run that fill shared memory."""
    flow = Flow(function, threads, shared)
    with_pairs = [loop for loop in flow.loops if flow.has_pairs(loop) and loop.header in flow.usual]
    result = []
    for loop in with_pairs:
        if any(child in with_pairs for child in loop.children):
            continue
        cold = {n for n in loop.blocks if flow.is_cold(n)}
        around, inside = [], loop
        for outer in loop.ancestors():
            around.append(flow.around(outer, inside))
            inside = outer
        address = function.code[flow.blocks[loop.header].begin].address
        code = flow.code(loop.blocks - cold)
        result.append(PairLoop(address, code, len(flow.code(cold)), around))
    return result
