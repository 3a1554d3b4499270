#!/usr/bin/env python3
"""Palomar 5 by symplectic beside what observers published of its stream.

    pip install galstreams
    cargo build --release -p symplectic
    examples/symplectic/benches/palomar5.py --program target/release/symplectic --n 1024

runs the cluster for 3 Gyr to its place of today and prints a table (Markdown). --stars FILE takes the stars of a run that was made
before. SKIPPED, with status 77, where galstreams (Mateu 2023) is missing, whose files hold the published tracks.
"""

import argparse
import csv
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

try:
    import astropy.coordinates as coordinates
    import astropy.units as u
    import numpy as np

    TRACKS = pathlib.Path(importlib.util.find_spec("galstreams").origin).parent / "tracks"
except (ImportError, AttributeError) as missing:
    print(f"SKIPPED: {missing} (pip install galstreams)")
    sys.exit(77)

# The cluster: place and proper motion by Vasiliev and Baumgardt (2021), distance by the RR Lyrae stars of Price-Whelan et al.
# (2019), radial velocity by Baumgardt and Hilker (2018).
TODAY = coordinates.SkyCoord(
    ra=229.019 * u.deg, dec=-0.121 * u.deg, distance=20.6 * u.kpc, pm_ra_cosdec=-2.730 * u.mas / u.yr,
    pm_dec=-2.654 * u.mas / u.yr, radial_velocity=-58.61 * u.km / u.s)
# Mass and radius 3 Gyr ago are free: these leave a cluster and a stream.
CLUSTER = ["--model", "king", "--w0", "3", "--cluster-mass", "4e4", "--cluster-radius", "20"]
RUN = ["--galaxy", "irrgang", "--back", "3Gyr", "--scheme", "forest-ruth", "--dt", "1/80", "--eps", "0.15"]
# The part of the stream, in degrees along it, where gradients are measured; the observers' stars lie there.
PART = (-8.0, 15.0)
BINS = [(-8, -4), (-4, -1), (1, 5), (5, 10), (10, 15)]


def track(name):
    """A published track: columns of numbers by name, in degrees, kpc, mas/yr and km/s."""
    lines = [line for line in open(TRACKS / f"track.st.Pal5.{name}.ecsv") if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


class Stream:
    """Angles along a great circle from the cluster towards the trailing tail, and across it."""

    def __init__(self, far):
        start, far = (self.unit(*place) for place in ((TODAY.ra.deg, TODAY.dec.deg), far))
        pole = np.cross(start, far) / np.linalg.norm(np.cross(start, far))
        self.axes = np.array([start, np.cross(pole, start), pole])

    @staticmethod
    def unit(ra, dec):
        ra, dec = np.radians(ra), np.radians(dec)
        return np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])

    def of(self, ra, dec):
        x, y, z = self.axes @ self.unit(ra, dec)
        return np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(z))


def run(program, n, folder):
    """The stars at the end, as the program writes them."""
    with coordinates.galactocentric_frame_defaults.set("v4.0"):
        place = TODAY.transform_to(coordinates.Galactocentric())
    position = place.cartesian.xyz.to_value(u.kpc)
    velocity = place.velocity.d_xyz.to_value(u.km / u.s)
    stars = f"{folder}/stars.csv"
    where = ["--position", ",".join(f"{c:.6f}" for c in position), "--velocity", ",".join(f"{c:.6f}" for c in velocity)]
    subprocess.run([program, "--n", str(n), *CLUSTER, *where, *RUN, "--stars", stars], check=True)
    return stars


def line(along, values):
    """Slope a degree, value at the cluster, and scatter about the line by the median of deviations."""
    slope, zero = np.polyfit(along, values, 1)
    rest = values - slope * along - zero
    # Once more without what is far off the line.
    near = abs(rest) < 4 * 1.4826 * np.median(abs(rest))
    slope, zero = np.polyfit(along[near], values[near], 1)
    rest = values - slope * along - zero
    return slope, zero, 1.4826 * np.median(abs(rest))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--program", help="symplectic")
    what.add_argument("--stars", help="the stars of a run that was made before")
    parser.add_argument("--n", type=int, default=1024, help="number of stars [default: 1024]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stars = options.stars or run(options.program, options.n, folder)
        rows = [row for row in csv.DictReader(open(stars)) if float(row["bound"]) == 0.0]
    column = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
    starkman = track("starkman2020")
    stream = Stream((starkman["ra"][0], starkman["dec"][0]))
    along, across = stream.of(column["ra_deg"], column["dec_deg"])
    near = abs(across) < 5

    print(f"\n{len(rows)} stars left the cluster.\n")
    print("Median distance of the stars across the stream from the published tracks, degrees:\n")
    print("| track | " + " | ".join(f"{a} to {b}" for a, b in BINS) + " |\n|---|" + "--:|" * len(BINS))
    for name, source in (("starkman2020", "Starkman et al. (2020)"), ("ibata2021", "Ibata et al. (2021)"),
                         ("ibata2024", "Ibata et al. (2024)"), ("pricewhelan2019", "Price-Whelan et al. (2019)")):
        known = track(name)
        ta, tb = stream.of(known["ra"], known["dec"])
        order = np.argsort(ta)
        ta, tb = ta[order], tb[order]
        cells = []
        for low, high in BINS:
            here = near & (along > max(low, ta[0])) & (along < min(high, ta[-1]))
            cells.append(f"{np.median(across[here] - np.interp(along[here], ta, tb)):.2f}" if here.sum() > 5 else "-")
        print(f"| {source} | " + " | ".join(cells) + " |")

    part = near & (along > PART[0]) & (along < PART[1]) & (abs(along) > 1)

    def published(name, key):
        known = track(name)
        ta, _ = stream.of(known["ra"], known["dec"])
        here = (ta > PART[0]) & (ta < PART[1])
        return np.polyfit(ta[here], known[key][here], 1)[0]

    distance = line(along[part], column["distance_kpc"][part])
    pm_ra = line(along[part], column["pm_ra_cosdec_mas_yr"][part])
    pm_dec = line(along[part], column["pm_dec_mas_yr"][part])
    speed = line(along[part], column["radial_velocity_km_s"][part])
    ridge = across[part] - np.polyval(np.polyfit(along[part], across[part], 4), along[part])
    width = 1.4826 * np.median(abs(ridge - np.median(ridge)))
    ends = np.percentile(along[near], (1, 99))
    table = [
        ("distance, kpc a degree", f"{published('pricewhelan2019', 'distance'):.3f}", "RR Lyrae, Price-Whelan et al. (2019)", f"{distance[0]:.3f}"),
        ("proper motion in right ascension, mas/yr a degree",
         f"{published('pricewhelan2019', 'pm_ra_cosdec'):.3f}, {published('ibata2024', 'pm_ra_cosdec'):.3f}", "the same; Ibata et al. (2024)", f"{pm_ra[0]:.3f}"),
        ("proper motion in declination, mas/yr a degree",
         f"{published('pricewhelan2019', 'pm_dec'):.3f}, {published('ibata2024', 'pm_dec'):.3f}", "the same", f"{pm_dec[0]:.3f}"),
        ("radial velocity, km/s a degree", "1.0 +- 0.1", "Kuzma et al. (2015)", f"{speed[0]:.2f}"),
        ("its dispersion, km/s", "2.1 +- 0.4", "the same", f"{speed[2]:.2f}"),
        ("length seen, degrees", "22; trailing to 18.5", "Grillmair and Dionatos (2006)", f"98 % from {ends[0]:.1f} to {ends[1]:.1f}"),
        ("width (standard deviation), degrees", "0.11", "Starkman et al. (2020)", f"{width:.2f}"),
    ]
    print("\n| quantity | published | source | run |\n|---|--:|---|--:|")
    for row in table:
        print("| " + " | ".join(row) + " |")


main()
