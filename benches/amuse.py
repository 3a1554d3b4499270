"""Codes of AMUSE beside each other: energy, NaN, large N, and seconds of wall clock. `.ci/amuse` builds them and runs this.

    python benches/amuse.py own        # the workers that AMUSE builds: ph4, phiGRAPE, FastKick
    python benches/amuse.py kirin      # ph4 with mode="gpu", phiGRAPE and kirin.amuse.GravityField, after `kirin amuse`
"""

import sys
import time

import numpy as np
from amuse.ic.plummer import new_plummer_model
from amuse.units import nbody_system

TIME, LENGTH, ENERGY = nbody_system.time, nbody_system.length, nbody_system.energy


def evolved(code, n, end):
    """Seconds of an evolution, and the relative error of its energy."""
    np.random.seed(1195)
    code.parameters.epsilon_squared = 0.0 | LENGTH**2
    code.particles.add_particles(new_plummer_model(n))
    before = code.kinetic_energy + code.potential_energy
    began = time.time()
    code.evolve_model(end | TIME)
    seconds = time.time() - began
    after = code.kinetic_energy + code.potential_energy
    state = np.concatenate([code.particles.position.number, code.particles.velocity.number])
    code.stop()
    assert np.isfinite(state).all(), "positions and velocities with NaN (AMUSE's issue 1195)"
    return seconds, abs(after / before - 1.0)


def field(code, n):
    """Seconds of the forces of n particles on n points."""
    np.random.seed(7)
    code.particles.add_particles(new_plummer_model(n))
    points = new_plummer_model(n)
    at = (0 * points.x, points.x, points.y, points.z)
    code.get_gravity_at_point(*at)
    began = time.time()
    acc = code.get_gravity_at_point(*at)
    seconds = time.time() - began
    code.stop()
    return seconds, np.array([a.number for a in acc])


def many(make):
    """AMUSE's issue 1208: 2^17 particles and one more go to the code and come back."""
    for n in (2**17, 2**17 + 1):
        code, particles = make(), new_plummer_model(n)
        code.particles.add_particles(particles)
        assert len(code.particles) == n
        code.particles.new_channel_to(particles).copy()
        particles.new_channel_to(code.particles).copy()
        assert (code.particles.x == particles.x).all()
        code.stop()
        print(f"| ph4 | {n} particles to the code and back | | |", flush=True)


def main(whose):
    from amuse_ph4.interface import Ph4
    from amuse_phigrape.interface import PhiGRAPE

    mode = "gpu" if whose == "kirin" else "cpu"
    print(f"| code ({whose}) | what | s, wall clock | energy error |\n|---|---|---|---|")
    for n, end in [(1000, 0.25), (4000, 0.125)]:
        # The first run of a code loads it.
        for _ in range(2):
            seconds, error = evolved(Ph4(mode=mode), n, end)
        assert error < 1e-6, error
        print(f"| ph4, mode {mode} | {n} stars to t = {end} | {seconds:.2f} | {error:.1e} |", flush=True)
    seconds, error = evolved(PhiGRAPE(), 1000, 0.25)
    assert error < 1e-6, error
    print(f"| phiGRAPE | 1000 stars to t = 0.25 | {seconds:.2f} | {error:.1e} |", flush=True)
    if whose == "kirin":
        from kirin.amuse import GravityField as Field

        many(lambda: Ph4(mode=mode))
    else:
        from amuse_fastkick.interface import FastKick as Field
    seconds, acc = field(Field(), 10_000)
    checksum = float(np.abs(acc).mean())
    print(f"| {Field.__name__} | 10^4 particles on 10^4 points | {seconds:.2f} | (mean {checksum:.12g}) |", flush=True)


main(sys.argv[1])
