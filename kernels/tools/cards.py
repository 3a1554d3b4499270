"""What the force kernels come to on every card: registers, residency, predicted pairs a second."""

import pathlib
import re
import tempfile

from . import devices, ptxas, report

# Whose pair loops stand for those of an architecture that nvdisasm does not know.
STAND_IN = "sm_75"


def cut(text, names):
    """A module of some of its kernels."""
    head, *entries = text.split("\n.visible .entry ")
    return "\n.visible .entry ".join([head] + [entry for entry in entries if entry.split("(")[0] in names]) + "\n"


def measure(tools, path, kernels, measure_loop):
    """For each card and kernel what it needs and how fast it should be. `measure_loop` makes a row of a pair loop."""
    with tempfile.TemporaryDirectory() as scratch:
        module = pathlib.Path(scratch, path.name)
        module.write_text(cut(path.read_text(), kernels))
        names = {architecture for _, architecture, _, _ in devices.CARDS} | {STAND_IN}
        known = {name: ptxas.assemble(tools["ptxas"], tools["nvdisasm"], module, name) for name in names}
    loops = {name: measure_loop(name, needs, functions) for name, (needs, functions) in known.items()}
    for card, architecture, multiprocessors, clock in devices.CARDS:
        needs = known[architecture][0]
        is_own = bool(loops[architecture])
        for kernel in kernels:
            need = needs[kernel]
            warps, limit = devices.occupancy(architecture, need.threads, need.registers, need.shared)
            row = loops[architecture if is_own else STAND_IN][kernel]
            rate, limited_by = devices.loop_rate(architecture, row, warps, multiprocessors, clock)
            yield {
                "card": card,
                "architecture": architecture,
                "kernel": kernel,
                "registers": need.registers,
                "spills": need.spills,
                "stack": need.stack,
                "warps": warps,
                "warps_limited_by": limit,
                "slots": row["page"],
                "alone": row["alone"],
                "is_own": is_own,
                "rate": rate,
                "limited_by": limited_by,
            }


def markdown(rows, version):
    head = ["card", "", "kernel", "registers", "spills, B", "stack, B", "warps per SM", "limited by", "slots a pair"]
    head += ["alone", "10^12 pairs/s", "limit"]
    lines = [
        [row["card"], row["architecture"], re.sub("^force_", "", row["kernel"]), row["registers"], row["spills"]]
        + [row["stack"], row["warps"], row["warps_limited_by"], f"{row['slots']:.2f}" + ("" if row["is_own"] else "*")]
        + [f"{row['alone']:.2f}", f"{row['rate'] / 1e12:.3f}", row["limited_by"]]
        for row in rows
    ]
    devices_told = "; ".join(f"{name} {count} at {clock:g}" for name, _, count, clock in devices.CARDS)
    return (
        f"\n## Cards\n\nThe code is assembled with ptxas {version}. The slots a pair are those of the pair loop without a mask, with the pair's share of "
        "the loops over leaves and pages. "
        f"nvdisasm does not know the architectures before {STAND_IN}. For these the slots are counted in the code for {STAND_IN}, and marked *. "
        f"The share `alone` is then that of {STAND_IN}, too; the wider pipes of sm_61 should make it greater there.\n\n"
        "The rates are predicted, not measured. They assume that all multiprocessors compute, with as many warps as are resident. "
        "`alone` is the share of its scheduler's issue slots that one warp fills. `limit` is the resource that is "
        "used up first: issue slots, pipes (fp64 with the joining of sums), or `waits` if the resident warps together do not fill "
        f"the slots. Numbers of multiprocessors and clock rates in GHz: {devices_told}.\n\n" + report.table(head, lines)
    )
