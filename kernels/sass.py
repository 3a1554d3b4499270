#!/usr/bin/env python3
"""What the kernels cost, told from their machine code: no GPU is needed.

Assembles kernels/prebuilt/*.ptx with ptxas, disassembles the result and prints for each kernel
registers, spills, stack, shared memory and occupancy; and for each pair loop (innermost loops that
have a reciprocal root; a root is a pair) the issue slots per pair: of the loop itself, with its
share of the loop over leaves, and with that of the loop over pages. All instructions of a pair loop
count, loads and branches too, but not ways that call a subroutine; around it the longest way counts,
each loop on it once, or as often as it takes to fill the shared memory.

    kernels/sass.py
    kernels/sass.py --arch sm_75 sm_86 --kernels 'force_mixed_.*'
    kernels/sass.py --limit 38 --limit-nearest 42 --limit-kernels 'force_mixed_jerk.*_2'

ptxas and nvdisasm come out of pinned wheels (24 MB, fetched once). Ends with 0 if all is well, 1
beyond a limit, and 77 if the tools cannot be had on this machine.
"""

import argparse
import hashlib
import json
import pathlib
import re
import shlex
import sys

from tools import cards, control, devices, ptxas, report, slots, wheels

KERNELS = pathlib.Path(__file__).resolve().parent
UNAVAILABLE = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx", nargs="*", type=pathlib.Path, help="PTX files; kernels/prebuilt/*.ptx if none is given")
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90"], help="architectures (sm_80 sm_90)")
    parser.add_argument("--kernels", default=".*", metavar="REGEX", help="only kernels whose whole name fits")
    parser.add_argument("--run", type=int, default=32, help="j-particles of a run, where a leaf has several (32)")
    parser.add_argument("--leaf", type=int, default=64, help="j-particles of a leaf (64)")
    parser.add_argument("--page", type=int, default=512, help="j-particles of a page (512)")
    parser.add_argument("--tile", type=int, help="i-particles of a thread; else the number that ends the kernel's name")
    parser.add_argument("--sms", type=int, help="multiprocessors, for the computed rate")
    parser.add_argument("--clock", type=float, help="clock in GHz, for the computed rate")
    parser.add_argument("--limit", type=float, help="most slots per pair, and no spills in any kernel")
    parser.add_argument("--limit-nearest", type=float, help="the same for kernels with `nearest` in their name")
    parser.add_argument("--limit-kernels", default=".*", metavar="REGEX", help="kernels the limits are for (all)")
    parser.add_argument("--masked-extra", type=float, default=0, help="what masked loops may take beyond the limits (0)")
    parser.add_argument("--limits", nargs=4, action="append", default=[], metavar=("REGEX", "PLAIN", "NEAREST", "EXTRA"),
                        help="the last four in one, which may stand several times")
    parser.add_argument("--limit-of", choices=["inner", "leaf", "page"], default="leaf", help="what is limited (leaf)")
    parser.add_argument("--ptxas", type=pathlib.Path, help="another ptxas, for newer architectures")
    parser.add_argument("--nvdisasm", type=pathlib.Path, help="another nvdisasm, for older architectures")
    parser.add_argument("--cards", action="store_true", help="a table of cards with all architectures, too")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all numbers there too")
    return parser.parse_args()


def tile(name, given):
    """i-particles of a thread of the kernel."""
    number = re.search(r"^variant_(\d+)_", name) or re.search(r"_(\d+)$", name)
    return given or (int(number.group(1)) if number else 1)


def measure_loop(loop, name, architecture, given):
    """One pair loop, as a row of the report."""
    width = tile(name, given.tile)
    turn = slots.Turn(given.run * width, given.leaf * width, given.page * width)
    mix = loop.mix()
    row = {
        "kernel": name,
        "address": loop.address,
        "pairs": loop.pairs,
        "instructions": len(loop.instructions),
        "cold": loop.cold,
        "inner": loop.inner(),
        "leaf": loop.with_leaf(turn),
        "page": loop.with_page(turn),
        "doubles": loop.doubles(turn),
        "alone": control.alone(loop.instructions),
        "levels": [vars(level) for level in loop.around],
        "mix": mix,
    }
    _, multiprocessors, clock = devices.EXAMPLES.get(architecture, (None, None, None))
    multiprocessors, clock = given.sms or multiprocessors, given.clock or clock
    if multiprocessors and clock and architecture in devices.ARCHITECTURES:
        row["rate"], row["limited_by"] = devices.rate(architecture, row["page"], mix, multiprocessors, clock)
    return row


def tell_masks(rows):
    """Marks the loops of one kernel that compare and select for every pair where another does not."""
    for row in rows:
        row["masked"] = row["mix"]["SELECT"] > min(other["mix"]["SELECT"] for other in rows) + 0.5
    return rows


def measure(given, tools):
    """The report: for each architecture its kernels and their pair loops."""
    wanted = re.compile(given.kernels)
    paths = given.ptx or sorted((KERNELS / "prebuilt").glob("*.ptx"))
    result = {"command": shlex.join(["kernels/sass.py", *sys.argv[1:]]), "leaf": given.leaf, "page": given.page}
    result["ptx"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    result.update({name: ptxas.version(program) for name, program in tools.items()})
    result["architectures"] = []
    for architecture in given.arch:
        kernels, found = [], []
        for path in paths:
            needs, functions = ptxas.assemble(tools["ptxas"], tools["nvdisasm"], path, architecture)
            for name, need in sorted(needs.items()):
                if not wanted.fullmatch(name):
                    continue
                warps = devices.occupancy(architecture, need.threads, need.registers, need.shared)
                row = dict(vars(need), kernel=name, warps=warps[0] if warps else None)
                row["warps_limited_by"] = warps[1] if warps else None
                kernels.append(row)
                if name in functions:
                    loops = slots.pair_loops(functions[name], need.threads, need.shared)
                    found += tell_masks([measure_loop(loop, name, architecture, given) for loop in loops])
                    row["disassembled"] = True
        device = devices.EXAMPLES.get(architecture, (architecture, None, None))
        if given.sms or given.clock:
            device = (architecture, given.sms or device[1], given.clock or device[2])
        result["architectures"].append({"name": architecture, "device": device, "kernels": kernels, "loops": found})
    return result


def measure_cards(given):
    """The table of cards."""
    tools = {"ptxas": ptxas.NEWER_PTXAS.program(), "nvdisasm": ptxas.NVDISASM.program()}

    def loops_of(architecture, needs, functions):
        rows = {}
        for name, function in functions.items():
            loops = slots.pair_loops(function, needs[name].threads, needs[name].shared)
            measured = tell_masks([measure_loop(loop, name, architecture, given) for loop in loops])
            rows[name] = next(row for row in measured if not row["masked"])
        return rows

    rows = []
    for precision in ["mixed", "double_single", "double"]:
        kernels = [f"force_{precision}_jerk_{tile}" for tile in (1, 2, 4)]
        path = KERNELS / "prebuilt" / f"{precision}.ptx"
        rows += cards.measure(tools, path, kernels, loops_of)
    return rows, ptxas.version(tools["ptxas"])


def limits(given):
    """Each limit: the pattern of its kernels, the most slots per pair, those with `nearest`, and what masked loops may take beyond."""
    wanted = [(kernels, float(plain), float(nearest), float(extra)) for kernels, plain, nearest, extra in given.limits]
    if given.limit is not None or given.limit_nearest is not None:
        wanted.append((given.limit_kernels, given.limit, given.limit_nearest, given.masked_extra))
    return wanted


def complaints(result, given):
    """What is beyond the limits."""
    wanted = limits(given)
    for at in result["architectures"] if wanted else []:
        for row in at["kernels"]:
            if row["spills"]:
                yield f"{at['name']} {row['kernel']}: spills {row['spills']} bytes"
        for kernels, plain, nearest, extra in wanted:
            checked = 0
            for row in at["loops"]:
                limit = nearest if "nearest" in row["kernel"] else plain
                if limit is not None and re.fullmatch(kernels, row["kernel"]):
                    checked += 1
                    limit += extra if row["masked"] else 0
                    slots_per_pair = row[given.limit_of]
                    if slots_per_pair > limit:
                        which = "masked" if row["masked"] else "plain"
                        yield f"{at['name']} {row['kernel']}, {which}: {slots_per_pair:.2f} slots per pair, limit {limit:g}"
            if not checked:
                yield f"{at['name']}: no pair loop to check among {given.kernels}, {kernels}"


def main():
    given = arguments()
    try:
        tools = {
            "ptxas": given.ptxas or ptxas.PTXAS.program(),
            "nvdisasm": given.nvdisasm or ptxas.NVDISASM.program(),
        }
        result = measure(given, tools)
        listed = measure_cards(given) if given.cards else None
    except wheels.Unavailable as why:
        print(f"cannot assemble: {why}", file=sys.stderr)
        return UNAVAILABLE
    except ptxas.ToolError as why:
        print(why, file=sys.stderr)
        return 1
    text = report.markdown(result)
    if listed:
        result["cards"] = listed[0]
        text += cards.markdown(*listed)
    print(text, end="")
    if given.markdown:
        given.markdown.write_text(text)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    wrong = list(complaints(result, given))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
