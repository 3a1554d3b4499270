"""The report of kernels/sass.py as Markdown."""

from . import slots

KINDS = slots.GROUPS + ["other"]


def table(head, rows):
    """A Markdown table, its columns made equally wide."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |\n" for line in lines
    )


def kernels(at):
    head = ["kernel", "registers", "spills, B", "stack, B", "shared, B", "threads", "warps per SM", "limited by"]
    rows = [
        [
            row["kernel"],
            row["registers"],
            row["spills"],
            row["stack"],
            row["shared"],
            row["threads"] or "-",
            row["warps"] or "-",
            row["warps_limited_by"] or "-",
        ]
        for row in at["kernels"]
    ]
    return table(head, rows)


def loops(at):
    kinds = [kind for kind in KINDS if any(row["mix"][kind] for row in at["loops"])]
    head = ["kernel", "mask", "pairs", "inner", "+ leaf", "+ page", *kinds, "10^12 pairs/s", "limit", "around, fp64", "alone"]
    rows = []
    for row in sorted(at["loops"], key=lambda row: (row["kernel"], row["masked"], row["address"])):
        rows.append(
            [row["kernel"], "yes" if row["masked"] else "no", row["pairs"]]
            + [f"{row[part]:.2f}" for part in ("inner", "leaf", "page")]
            + [f"{row['mix'][kind]:.2f}" for kind in kinds]
            + ([f"{row['rate'] / 1e12:.2f}", row["limited_by"]] if "rate" in row else ["-", "-"])
            + [f"{row['doubles']:.3f}", "-" if row["alone"] is None else f"{row['alone']:.2f}"]
        )
    return table(head, rows)


def markdown(result):
    text = "# What the kernels cost, told from their machine code\n\n"
    text += f"`{result['command']}` with ptxas {result['ptxas']} and nvdisasm {result['nvdisasm']}, of\n"
    text += ", ".join(f"{name} ({sha256[:12]})" for name, sha256 in result["ptx"].items()) + " (SHA-256).\n"
    for at in result["architectures"]:
        text += f"\n## {at['name']}\n\n{kernels(at)}"
        if not all(row.get("disassembled") for row in at["kernels"]):
            text += "\nThis nvdisasm does not know the architecture: no pair loops.\n"
        if at["loops"]:
            name, multiprocessors, clock = at["device"]
            text += (
                "\nThe columns `inner`, `+ leaf` and `+ page` are issue slots per pair. `inner` counts the pair loop alone, `+ leaf` adds "
                f"the pair's share of the loop over leaves ({result['leaf']} j-particles), and `+ page` also its share of the loop over "
                f"pages ({result['page']}). For both outer loops the longest path is counted. The next columns are instructions per pair of the pair loop, by kind. `around, fp64` counts the double-precision "
                "instructions per pair in the loops around the pair loop. `alone` is the share of its scheduler's issue slots that one warp fills, "
                "by the control bits of the pair loop (`tools/control.py`)."
            )
            if multiprocessors and clock:
                text += (
                    f" The rate is computed, not measured, for {multiprocessors} multiprocessors at {clock:g} GHz ({name}). "
                    "Only the resource in the column `limit` bounds it."
                )
            text += f"\n\n{loops(at)}"
            cold = max(row["cold"] for row in at["loops"])
            if cold:
                text += f"\nNot counted: up to {cold} instructions of paths to subroutines, which are not executed for ordinary numbers.\n"
    return text
