"""The control-flow graph of a function and its natural loops."""

# These end a basic block without going on to the next instruction, unless guarded.
FINAL = {"EXIT", "RET", "KILL", "BPT"}
JUMPS = {"BRA", "JMP", "BRX", "JMX", "BRXU", "JMXU"}


def is_call(instruction):
    """Whether it calls a subroutine. ptxas also leaves loops by CALL, to a label without a name."""
    return instruction.name == "CALL" and not any(at.startswith(".L_") for at in instruction.labels())


def is_jump(instruction):
    return instruction.name in JUMPS or (instruction.name == "CALL" and not is_call(instruction))


class Block:
    """Instructions begin..end of a function, entered only at begin and left only at end."""

    def __init__(self, begin, end):
        self.begin = begin
        self.end = end
        self.next = set()


class Loop:
    """A natural loop: a header and the blocks that lead back to it."""

    def __init__(self, header, blocks):
        self.header = header
        self.blocks = blocks
        self.parent = None
        self.children = []

    def ancestors(self):
        """The loops around it, from the inside."""
        loop = self.parent
        while loop:
            yield loop
            loop = loop.parent

    def own_blocks(self):
        """Its blocks that are in no loop inside it."""
        inner = set().union(*(child.blocks for child in self.children)) if self.children else set()
        return self.blocks - inner


def conditional(instruction):
    """Whether control may also go on behind a jump. Uniform jumps have their guard as an operand."""
    first = instruction.operands.split(",", 1)[0].strip().lstrip("!")
    as_operand = first.startswith(("P", "UP")) and first not in ("PT", "UPT")
    return instruction.guard not in (None, "PT", "UPT") or as_operand


def rejoin(function, n):
    """Where a BSYNC goes: to the next label that a BSSY before it gave its barrier."""
    barrier = function.code[n].operands.split(",")[0].strip()
    given = [
        function.labels[label]
        for at in function.code[:n]
        if at.name == "BSSY" and at.operands.split(",")[0].strip() == barrier
        for label in at.labels()
        if label in function.labels
    ]
    after = [place for place in given if place > n]
    return [label for label, place in function.labels.items() if after and place == min(after)][:1]


def blocks_of(function):
    """The basic blocks, in order, with their successors."""
    code = function.code
    targets = set(function.labels.values())
    ends = FINAL | {"BSYNC"}
    begins = {0} | targets | {n + 1 for n, at in enumerate(code) if at.name in ends or is_jump(at)}
    begins = sorted(n for n in begins if n < len(code))
    blocks = [Block(b, e) for b, e in zip(begins, begins[1:] + [len(code)])]
    number = {block.begin: n for n, block in enumerate(blocks)}
    for n, block in enumerate(blocks):
        last = code[block.end - 1]
        labels = []
        goes_on = True
        if is_jump(last):
            labels = last.labels()
            goes_on = conditional(last)
        elif last.name == "BSYNC":
            labels = rejoin(function, block.end - 1)
            goes_on = conditional(last) or not labels
        elif last.name in FINAL:
            goes_on = conditional(last)
        block.next = {
            number[function.labels[label]] for label in labels if function.labels.get(label, len(code)) < len(code)
        }
        if goes_on and n + 1 < len(blocks):
            block.next.add(n + 1)
    return blocks


def dominators(blocks):
    """For each block the set of blocks through which every way to it leads; empty if there is none."""
    before = [[] for _ in blocks]
    reached = {0}
    waiting = [0]
    while waiting:
        at = waiting.pop()
        for to in blocks[at].next:
            before[to].append(at)
            if to not in reached:
                reached.add(to)
                waiting.append(to)
    found = [set(reached) if n in reached else set() for n in range(len(blocks))]
    found[0] = {0}
    changed = True
    while changed:
        changed = False
        for n in sorted(reached - {0}):
            new = {n} | set.intersection(*(found[p] for p in before[n]))
            if new != found[n]:
                found[n] = new
                changed = True
    return found, before


def loops_of(blocks):
    """The natural loops, nested; loops with one header count as one."""
    if not blocks:
        return []
    over, before = dominators(blocks)
    bodies = {}
    for n, block in enumerate(blocks):
        for header in block.next & over[n]:
            body = bodies.setdefault(header, {header})
            waiting = [n]
            while waiting:
                at = waiting.pop()
                if at not in body:
                    body.add(at)
                    waiting.extend(before[at])
    loops = sorted((Loop(h, b) for h, b in bodies.items()), key=lambda loop: len(loop.blocks))
    for n, loop in enumerate(loops):
        for outer in loops[n + 1 :]:
            if loop.header in outer.blocks and loop.blocks < outer.blocks:
                loop.parent = outer
                outer.children.append(loop)
                break
    return sorted(loops, key=lambda loop: loop.header)
