#!/usr/bin/env python3
"""The galaxies of symplectic beside galpy and gala: orbits of one star over 10 Gyr, and the sky beside astropy.

    pip install galpy gala astropy
    cargo build --release -p symplectic
    examples/symplectic/benches/galaxies.py --program target/release/symplectic

prints a table (Markdown). With --references it prints the lines of examples/kit/src/galaxy/orbit_reference.txt instead, with
--sky those of sky_reference.txt, with --friction those of friction_reference.txt, which the tests of the kit hold the program against. SKIPPED, with status 77, where
galpy, gala or astropy is missing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import astropy.coordinates as coordinates
    import astropy.units as u
    import gala.dynamics as gd
    import gala.integrate as gi
    import gala.potential as gala
    import galpy.potential as galpy
    import numpy as np
    from galpy.orbit import Orbit
    from gala.dynamics.nbody import DirectNBody
    from gala.units import galactic
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

RO, VO = 8.0, 220.0
START = (8.0, 1.0, 6.0, 60.0, 150.0, -40.0)  # kpc, km/s
GYR = 10.0
# MASS,A,B,C,SPEED,ANGLE of the bar; mass, radius, position and velocity of the satellite.
BAR = (1e10, 4.0, 1.0, 0.5, -39.0, 28.0)
SATELLITE = (1e10, 3.0, (60.0, 0.0, 40.0), (0.0, 100.0, 30.0))
GROWTH = 0.03
ARGUMENTS = {
    "mwpotential2014": [],
    "bar": ["--bar", ",".join(map(str, BAR))],
    "fixed": ["--satellite", "SATELLITE:fixed"],
    "moving": ["--satellite", "SATELLITE"],
    "growth": ["--growth", str(GROWTH)],
}


def satellite_text():
    mass, radius, x, v = SATELLITE
    vectors = (",".join(map(str, vector)) for vector in (x, v))
    return ":".join(["plummer", str(mass), str(radius), *vectors])


def galpy_orbit(x, v):
    """An orbit in galpy's cylinder coordinates, which have no handedness of their own."""
    big_r, phi = np.hypot(x[0], x[1]), np.arctan2(x[1], x[0])
    radial = (x[0] * v[0] + x[1] * v[1]) / big_r
    tangential = (x[0] * v[1] - x[1] * v[0]) / big_r
    return Orbit([big_r / RO, radial / VO, tangential / VO, x[2] / RO, v[2] / VO, phi], ro=RO, vo=VO)


def galpy_time(gyr):
    from galpy.util import conversion

    return gyr / conversion.time_in_Gyr(vo=VO, ro=RO)


def galpy_point_mass(solar):
    from galpy.util import conversion

    return solar / conversion.mass_in_msol(vo=VO, ro=RO)


def galpy_potential(name, times):
    host = list(galpy.MWPotential2014)
    if name == "mwpotential2014":
        return host
    if name == "bar":
        mass, a, b, c, speed, angle = BAR
        return host + [
            galpy.SoftenedNeedleBarPotential(
                amp=galpy_point_mass(mass), a=a / RO, b=b / RO, c=c / RO,
                omegab=speed * RO / VO, pa=np.radians(angle),
            )
        ]
    if name == "growth":
        rate = GROWTH * GYR / galpy_time(GYR)
        return [galpy.TimeDependentAmplitudeWrapperPotential(amp=1.0, A=lambda t: 1.0 + rate * t, pot=part) for part in host]
    if name == "moving":
        mass, radius, x, v = SATELLITE
        orbit = galpy_orbit(x, v)
        orbit.integrate(np.linspace(0, galpy_time(GYR), 100001), host, method="dop853_c", rtol=1e-13, atol=1e-13)
        return host + [galpy.MovingObjectPotential(orbit, pot=galpy.PlummerPotential(amp=galpy_point_mass(mass), b=radius / RO))]
    return None


def by_galpy(name):
    times = np.linspace(0.0, galpy_time(GYR), 20001)
    potential = galpy_potential(name, times)
    if potential is None:
        return None
    orbit = galpy_orbit(START[:3], START[3:])
    orbit.integrate(times, potential, method="dop853_c", rtol=1e-13, atol=1e-13)
    return [float(f(times[-1], use_physical=False)) * RO for f in (orbit.x, orbit.y, orbit.z)]


def by_gala(name):
    host = gala.BovyMWPotential2014(units=galactic)
    start = gd.PhaseSpacePosition(pos=START[:3] * u.kpc, vel=START[3:] * u.km / u.s)
    settings = dict(dt=0.5 * u.Myr, n_steps=int(2000 * GYR), Integrator=gi.DOPRI853Integrator,
                    Integrator_kwargs=dict(rtol=1e-13, atol=1e-13))
    if name == "mwpotential2014":
        orbit = host.integrate_orbit(start, **settings)
    elif name == "bar":
        mass, a, b, c, speed, angle = BAR
        bar = gala.LongMuraliBarPotential(m=mass * u.Msun, a=a * u.kpc, b=b * u.kpc, c=c * u.kpc,
                                          alpha=angle * u.deg, units=galactic)
        whole = gala.CCompositePotential(bar=bar, **dict(host))
        frame = gala.ConstantRotatingFrame([0, 0, speed] * u.km / u.s / u.kpc, units=galactic)
        omega = (speed * u.km / u.s / u.kpc).to(u.rad / u.Myr, u.dimensionless_angles()).value
        hamiltonian = gala.Hamiltonian(whole, frame=frame)
        # Positions and canonical momenta are those of the inertial frame at the time 0; at the end turn back.
        orbit = hamiltonian.integrate_orbit(start, **settings)
        x, y, z = orbit.pos.xyz[:, -1].to_value(u.kpc)
        turned = omega * orbit.t[-1].to_value(u.Myr)
        return [float(c) for c in (x * np.cos(turned) - y * np.sin(turned), x * np.sin(turned) + y * np.cos(turned), z)]
    elif name == "fixed":
        mass, radius, x, _ = SATELLITE
        satellite = gala.PlummerPotential(m=mass * u.Msun, b=radius * u.kpc, origin=list(x) * u.kpc, units=galactic)
        orbit = gala.CCompositePotential(satellite=satellite, **dict(host)).integrate_orbit(start, **settings)
    elif name == "moving":
        mass, radius, x, v = SATELLITE
        satellite = gala.PlummerPotential(m=mass * u.Msun, b=radius * u.kpc, units=galactic)
        both = gd.PhaseSpacePosition(pos=np.array([x, START[:3]]).T * u.kpc, vel=np.array([v, START[3:]]).T * u.km / u.s)
        orbit = DirectNBody(both, [satellite, None], external_potential=host, save_all=False).integrate_orbit(**settings)
        return [float(c) for c in orbit.pos.xyz[:, 1].to_value(u.kpc).ravel()] if orbit.pos.xyz.ndim == 2 else [
            float(c) for c in orbit.pos.xyz[:, -1, 1].to_value(u.kpc)]
    else:
        return None
    return [float(c) for c in orbit.pos.xyz[:, -1].to_value(u.kpc)]


def by_symplectic(program, name):
    more = [word.replace("SATELLITE", satellite_text()) for word in ARGUMENTS[name]]
    position, velocity = (",".join(map(str, part)) for part in (START[:3], START[3:]))
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/end.txt"
        subprocess.run(
            [program, "--n", "1", "--galaxy", "mwpotential2014", "--position", position, "--velocity", velocity, *more,
             "--scheme", "blanes-moan", "--dt", "1/8", "--eps", "1", "--precision", "double",
             "--t-end", f"{GYR}Gyr", "--output", output],
            check=True, stdout=subprocess.DEVNULL)
        for line in open(output):
            words = line.split()
            if words[0] == "galaxy.field":
                length = float(words[3]) / 1000.0
            if words[0] == "0" and len(words) == 8:
                return [length * float(c) for c in words[2:5]]
    raise ValueError("no body in the output")


def friction():
    """Positions of a satellite that dynamical friction slows, for the kit's friction_reference.txt."""
    solar, radius = 2e10, 1.5
    host = list(galpy.MWPotential2014)
    half_mass = radius / np.sqrt(4 ** (1 / 3) - 1) / RO
    drag = galpy.ChandrasekharDynamicalFrictionForce(
        GMs=galpy_point_mass(solar), rhm=half_mass, dens=galpy.MWPotential2014, maxr=1000 / RO, nr=2001)
    rows = []
    for gyr in (0.4, -2.0):
        orbit = galpy_orbit((30.0, 0.0, 20.0), (0.0, 120.0, 30.0))
        times = np.linspace(0, galpy_time(gyr), 2001)
        orbit.integrate(times, host + [drag], method="dop853_c", rtol=1e-12, atol=1e-12)
        place = [float(f(times[-1], use_physical=False)) * RO for f in (orbit.x, orbit.y, orbit.z)]
        rows.append(f"    ({gyr}, {place}),\n")
    print("[\n" + "".join(rows) + "]")


def sky():
    rows = []
    points = [(6.2, 0.2, 16.4, -47.6, -119.7, -11.4), (-1.1, -41.1, -27.9, -57.4, -225.6, 220.7),
              (-8.3, 0.1, 0.05, 11.0, 231.0, -7.0)]
    with coordinates.galactocentric_frame_defaults.set("v4.0"):
        for p in points:
            place = coordinates.Galactocentric(
                x=p[0] * u.kpc, y=p[1] * u.kpc, z=p[2] * u.kpc,
                v_x=p[3] * u.km / u.s, v_y=p[4] * u.km / u.s, v_z=p[5] * u.km / u.s)
            s = place.transform_to(coordinates.ICRS())
            seen = [s.ra.deg, s.dec.deg, s.distance.kpc, s.pm_ra_cosdec.value, s.pm_dec.value, s.radial_velocity.value]
            rows.append((list(p), [float(c) for c in seen]))
    print("[\n" + "".join(f"    ({p}, {q}),\n" for p, q in rows) + "]")


def off(a, b):
    return float(np.linalg.norm(np.subtract(a, b)) / np.linalg.norm(b))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    parser.add_argument("--references", action="store_true")
    parser.add_argument("--sky", action="store_true")
    parser.add_argument("--friction", action="store_true")
    options = parser.parse_args()
    if options.sky:
        return sky()
    if options.friction:
        return friction()
    if options.program:
        print("| galaxy | off galpy | off gala | galpy off gala |\n|---|--:|--:|--:|")
    rows = {}
    for name in ARGUMENTS:
        references = {"galpy": by_galpy(name), "gala": by_gala(name)}
        rows[name] = references
        if options.program:
            found = by_symplectic(options.program, name)
            cells = [f"{off(found, r):.1e}" if r is not None else "-" for r in references.values()]
            both = references["galpy"] is not None and references["gala"] is not None
            cells.append(f"{off(references['galpy'], references['gala']):.1e}" if both else "-")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if options.references:
        print("[")
        for name, references in rows.items():
            for program, place in references.items():
                if place is not None:
                    print(f'    ("{name}", "{program}", {place}),')
        print("]")


main()
