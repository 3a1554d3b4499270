#!/usr/bin/env python3
"""CMC's initial conditions as a snapshot for `monte-carlo --input`.

    cmc_input.py king.hdf5 king.txt        (needs h5py)

COSMIC, which makes them, writes pandas' fixed format: in the group CLUS_OBJ_DATA the columns of a block have their names in block0_items
and stand side by side in block0_values. A row is a star with its mass m, radius r, radial and transverse velocity vr and vt
in N-body units; the first row is the centre, with the mass of a black hole, and the last is infinity. Binaries become one star of their joint mass.
Every star gets a random direction, as the snapshot's bodies stand in space.
"""

import math
import random
import sys


def direction(draw):
    """A vector of length 1 without a preferred direction."""
    z, angle = draw.uniform(-1.0, 1.0), draw.uniform(0.0, 2.0 * math.pi)
    across = math.sqrt(1.0 - z * z)
    return across * math.cos(angle), across * math.sin(angle), z


def body(draw, mass, r, vr, vt):
    """Mass, position and velocity in space."""
    out = direction(draw)
    while True:
        x, y, z = direction(draw)
        side = (out[1] * z - out[2] * y, out[2] * x - out[0] * z, out[0] * y - out[1] * x)
        length = math.sqrt(sum(c * c for c in side))
        if length > 0.01:
            break
    position = [r * c for c in out]
    velocity = [vr * a + vt * b / length for a, b in zip(out, side)]
    return [mass] + position + velocity


def snapshot(rows, seed=1):
    """The lines of a snapshot of `rows` of (m, r, vr, vt), the first of which is the centre and the last infinity."""
    draw = random.Random(seed)
    rows = list(rows)
    if len(rows) < 3 or not (rows[0][1] < 1e-300 and rows[-1][1] > 1e30):
        raise ValueError("the first row is not the centre, or the last not infinity")
    if rows[0][0] != 0.0:
        raise ValueError(
            f"there is a black hole of mass {rows[0][0]} at the centre: set the mass of the first row to 0, and run monte-carlo with --black-hole-mass"
        )
    stars = rows[1:-1]
    yield "kirin-snapshot 1"
    yield f"n {len(stars)}"
    yield "columns mass x y z vx vy vz"
    for star in stars:
        yield " ".join(repr(float(number)) for number in body(draw, *star))
    yield "end"


def read(path):
    """The rows of (m, r, vr, vt) of CMC's file."""
    import h5py

    columns = {}
    with h5py.File(path, "r") as file:
        table = file["CLUS_OBJ_DATA"]
        for name in table:
            if name.endswith("_items"):
                values = table[name.replace("_items", "_values")][()]
                columns.update(zip((item.decode() for item in table[name]), values.T))
    return zip(*(columns[name] for name in ("m", "r", "vr", "vt")))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        lines = list(snapshot(read(sys.argv[1])))
    except ImportError as error:
        sys.exit(f"cmc_input.py: {error}: pip install h5py")
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"cmc_input.py: {sys.argv[1]}: {error}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
