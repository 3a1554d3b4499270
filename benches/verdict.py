#!/usr/bin/env python3
"""Predicted against measured: what a run of benches/gpu.sh tells of the assumptions in the plans.

    benches/verdict.py FOLDER       the folder that benches/gpu.sh has filled

Each line of the report is a block that was measured. Its prediction is that of the kernel (`kirin info --plan`), by
instructions counted from machine code, with a guess of what driver and bus need; its verdict names the assumption
to doubt where the two disagree. At the end stands, for each assumption, how far off it is. Ends with 1 if a check of
the results failed or nothing was measured; a wrong prediction is no failure.
"""

import json
import pathlib
import re
import statistics
import sys
from collections import namedtuple

# Microseconds of an H100 in a virtual machine: a kernel or copy, the way to the device and back, the prediction of the
# j-particles (which grows with their number up to 8), the host's work on an i-particle and on a j-particle that changes.
OPERATION, WAY, PREDICTION, PARTICLE, WRITE = 3.9, 5.4, 4.0, 0.05, 0.13
# Agreement within this factor is all that is claimed.
FACTOR = 1.5

OVERHEAD = "overhead"
ASSUMPTIONS = {
    OVERHEAD: "3.9 us a launch, 5.4 us there and back, the host's work (verdict.py)",
    "pairs": "issue slots a pair and the clock (chip.rs: slots)",
    "waits": "share of the slots that one warp fills (chip.rs: alone)",
    "doubles": "the pipe of double precision (chip.rs: doubles)",
    "pages": "clocks until a page is there (plan: FETCH)",
    "joins": "clocks of a round of joins (plan: ROUND, SUM_BYTES)",
}
PRECISIONS = ["mixed", "double", "single", "double-single"]

Block = namedtuple("Block", "name predicted measured limit")


def plans(text):
    """(nj, ni) -> microseconds of the kernel and what limits them, from what `kirin info --plan` prints."""
    rows = re.findall(r"^ +(\d+) +(\d+) +([\d.]+) +[\d.]+ +(\w+)  \d+ x", text, re.M)
    return {(int(nj), int(ni)): (float(us), limit) for nj, ni, us, limit in rows}


def block(name, plan, nj, ni, measured, predicts=True, writes=False):
    """A line of the report for a block; none without a plan. The kernel that predicts fetches its i-particles, or they are
    copied: two operations either way."""
    if (nj, ni) not in plan or not measured:
        return None
    kernel, limit = plan[nj, ni]
    overhead = 2 * OPERATION + WAY + PREDICTION * predicts + (PARTICLE + WRITE * writes) * ni
    return Block(name, kernel + overhead, measured, OVERHEAD if overhead > kernel else limit)


def of_bench(document, plan, precision):
    """The lines of `kirin bench --json`."""
    for cell in document["cells"]:
        if cell["case"] not in ("force", "predict", "step"):
            continue
        for library, figure in zip(document["libraries"], cell["figures"]):
            # The time of the whole system, too, is that of a call, for as many as the library has pipelines.
            n, whole = cell["n"], cell["ni"] == "full"
            ni = min(n, library["npipes"]) if whole else cell["ni"]["block"]
            if ni > library["npipes"]:
                continue
            seconds = figure["seconds"]
            size = "full" if whole else ni
            name = f"{precision}, {cell['case']}, nj {n}, ni {size}, {library['npipes']} pipelines"
            measured = seconds and 1e6 * seconds["median"]
            case = cell["case"]
            yield block(name, plan, n, ni, measured, predicts=case != "force", writes=case == "step")


def of_small_blocks(text, plan):
    """The lines that the function `small` of gpu.sh prints."""
    for nj, ni, nearest, join, us in re.findall(r"^ +(\d+) +(\d+) +([01]) (\w+) +([\d.]+)$", text, re.M):
        near = ", nearest" if nearest == "1" else ""
        name = f"mixed, step, nj {nj}, ni {ni}{near}, join {join}"
        yield block(name, plan, int(nj), int(ni), float(us), writes=True)


def verdict(line):
    ratio = line.measured / line.predicted
    if 1 / FACTOR <= ratio <= FACTOR:
        return "as predicted"
    return f"{'slower' if ratio > 1 else 'faster'}: doubt {line.limit}"


def read(folder, name):
    path = folder / name
    return path.read_text() if path.is_file() else ""


def lines_of(folder):
    """All blocks that were measured."""
    mixed = {}
    for precision in PRECISIONS:
        plan = plans(read(folder, f"plan-{precision}.txt"))
        bench = read(folder, f"bench-{precision}.json")
        if bench:
            yield from of_bench(json.loads(bench), plan, precision)
        mixed = plan if precision == "mixed" else mixed
    yield from of_small_blocks(read(folder, "small-blocks.txt"), mixed)


def checks(folder):
    """Precision -> what `kirin check` said at the end, and whether that is well."""
    for precision in PRECISIONS:
        text = read(folder, f"check-{precision}.txt").rstrip()
        if text:
            last = re.split(r"\n\n", text)[-1]
            yield precision, last, "misses" not in last and "limit" in last.lower()


def report(folder):
    """The report, and whether all is well."""
    text, well = "", True
    for precision, said, is_well in checks(folder):
        text += f"results, {precision}: {said}\n"
        well = well and is_well
    found = [line for line in lines_of(folder) if line]
    width = max((len(line.name) for line in found), default=0)
    text += f"\n{'':{width}} {'predicted, us':>14} {'measured, us':>14} {'ratio':>7}  verdict\n"
    for line in found:
        ratio = line.measured / line.predicted
        text += f"{line.name:{width}} {line.predicted:14.1f} {line.measured:14.1f} {ratio:7.2f}  {verdict(line)}\n"
    text += "\nmeasured / predicted by what the prediction rests on: median, least, greatest, number\n"
    for limit, meaning in ASSUMPTIONS.items():
        ratios = [line.measured / line.predicted for line in found if line.limit == limit]
        if ratios:
            middle = statistics.median(ratios)
            numbers = f"{middle:7.2f} {min(ratios):7.2f} {max(ratios):7.2f} {len(ratios):5d}"
            said = "holds" if 1 / FACTOR <= middle <= FACTOR else "WRONG"
            text += f"  {limit:9} {numbers}  {said}: {meaning}\n"
    return text, well and bool(found)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    text, well = report(pathlib.Path(sys.argv[1]))
    print(text, end="")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
