#!/usr/bin/env python3
"""CMC's initial conditions as a snapshot for `monte-carlo --input`.

    cmc_input.py king.hdf5 king.txt        (needs pandas with PyTables)

CMC's table CLUS_OBJ_DATA has a row for each star with its mass m, radius r, radial and transverse velocity vr and
vt in N-body units, between a row for the centre and one for infinity. Binaries become one star of their joint mass. Every
star gets a random direction, as the snapshot's bodies stand in space.
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
    """The lines of a snapshot of `rows` of (m, r, vr, vt)."""
    draw = random.Random(seed)
    stars = [row for row in rows if row[0] > 0.0 and 0.0 < row[1] < 1e30]
    yield "kirin-snapshot 1"
    yield f"n {len(stars)}"
    yield "columns mass x y z vx vy vz"
    for star in stars:
        yield " ".join(repr(float(number)) for number in body(draw, *star))
    yield "end"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        import pandas
    except ImportError as error:
        sys.exit(f"cmc_input.py: {error}: pip install pandas tables")
    table = pandas.read_hdf(sys.argv[1], key="CLUS_OBJ_DATA")
    rows = table[["m", "r", "vr", "vt"]].itertuples(index=False, name=None)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in snapshot(rows))


if __name__ == "__main__":
    main()
