"""The text that nvdisasm prints, as functions, instructions and labels."""

import re


class Instruction:
    """One instruction: `@!P0 BRA `(.L_x_3)` is opcode BRA, guard !P0, operands `(.L_x_3)."""

    def __init__(self, address, guard, opcode, operands):
        self.address = address
        self.guard = guard
        self.opcode = opcode
        self.operands = operands
        self.upper = None  # the upper half of its 128 bits, where the text has them

    @property
    def name(self):
        """The opcode without its modifiers."""
        return self.opcode.split(".", 1)[0]

    def labels(self):
        """Labels among the operands."""
        return re.findall(r"`\(([^)]+)\)", self.operands)


class Function:
    """Instructions in order, and the labels in front of them."""

    def __init__(self, name):
        self.name = name
        self.code = []
        self.labels = {}  # label -> index of the instruction after it


SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")
LABEL = re.compile(r"^([.$\w]+):")
INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]+)\*/\s+\{?\s*(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;"
)

UPPER = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")


def parse(text):
    """The functions (one a `.text` section) by name."""
    functions = {}
    function = None
    for line in text.splitlines():
        section = SECTION.match(line)
        if section:
            function = functions.setdefault(section.group(1), Function(section.group(1)))
            continue
        if function is None:
            continue
        if line.split()[:1] == [".section"]:
            function = None
            continue
        label = LABEL.match(line)
        if label:
            function.labels[label.group(1)] = len(function.code)
            continue
        found = INSTRUCTION.match(line)
        if found:
            address, guard, opcode, operands = found.groups()
            function.code.append(Instruction(int(address, 16), guard, opcode, operands))
            continue
        upper = UPPER.match(line)
        if upper and function.code:
            function.code[-1].upper = int(upper.group(1), 16)
    return functions
