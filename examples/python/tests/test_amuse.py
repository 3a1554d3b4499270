"""`kirin.amuse.GravityField` in AMUSE: needs its framework and MPI. `.ci/amuse` runs this."""

import unittest

import numpy as np
from amuse.couple.bridge import Bridge, CalculateFieldForCodesUsingReinitialize
from amuse.datamodel import Particles
from amuse.ic.plummer import new_plummer_model
from amuse.support.exceptions import AmuseException
from amuse.units import constants, nbody_system, units

from kirin.amuse import GravityField

LENGTH, MASS = nbody_system.length, nbody_system.mass


def plain(particles, points, eps2):
    """Accelerations and potentials by the definition, without units."""
    x = particles.position.value_in(LENGTH)
    d = x[None] - points.position.value_in(LENGTH)[:, None]
    m = particles.mass.value_in(MASS)
    r = np.sqrt((d**2).sum(-1) + eps2[:, None])
    return ((m / r**3)[..., None] * d).sum(1), -(m / r).sum(1)


class Field(unittest.TestCase):
    def setUp(self):
        np.random.seed(4)
        self.particles, self.points = new_plummer_model(200), new_plummer_model(50)

    def make(self, particles, eps2=0.01, **options):
        field = GravityField(**options)
        self.addCleanup(field.stop)
        field.parameters.epsilon_squared = eps2 | LENGTH**2
        field.particles.add_particles(particles)
        return field

    def compare(self, field, particles):
        eps = np.linspace(0.0, 0.3, len(self.points))
        acc, pot = plain(particles, self.points, 0.01 + eps**2)
        at = (eps | LENGTH, self.points.x, self.points.y, self.points.z)
        found = np.array([a.value_in(nbody_system.acceleration) for a in field.get_gravity_at_point(*at)]).T
        np.testing.assert_allclose(found, acc, rtol=0, atol=1e-13)
        found = field.get_potential_at_point(*at).value_in(nbody_system.potential)
        np.testing.assert_allclose(found, pot, rtol=1e-13)

    def test_forces_and_potentials_are_the_plain_sum(self):
        for channel in ("mpi", "sockets"):
            with self.subTest(channel):
                self.compare(self.make(self.particles, channel_type=channel), self.particles)

    def test_particles_change(self):
        field = self.make(self.particles)
        self.compare(field, self.particles)
        self.particles.mass *= 2.0
        self.particles.x += 0.5 | LENGTH
        self.particles.new_channel_to(field.particles).copy_attributes(["mass", "x", "y", "z"])
        self.compare(field, self.particles)
        gone = self.particles[::3].copy()
        self.particles.remove_particles(gone)
        field.particles.remove_particles(gone)
        self.compare(field, self.particles)
        more = new_plummer_model(20)
        self.particles.add_particles(more)
        field.particles.add_particles(more)
        self.compare(field, self.particles)
        self.assertEqual(len(field.particles), len(self.particles))
        self.assertTrue((field.particles.x == self.particles.x).all())

    def test_a_point_that_is_a_particle_is_without_itself(self):
        field = self.make(self.particles)
        at = (0 * self.particles.x, self.particles.x, self.particles.y, self.particles.z)
        energy = 0.5 * (self.particles.mass * field.get_potential_at_point(*at)).sum()
        wanted = self.particles.potential_energy(smoothing_length_squared=0.01 | LENGTH**2, G=nbody_system.G)
        for found in (energy, field.potential_energy):
            self.assertAlmostEqual(found / wanted, 1.0, 13)

    def test_all_particles_at_the_place_of_a_point_are_left_out(self):
        particles, eps = self.particles[:20].copy(), np.full(20, 0.1)
        particles[7].position = particles[6].position = particles[3].position
        particles[12].position = particles[11].position
        particles.mass *= np.arange(1.0, 21.0)
        field = self.make(particles)
        at = (eps | LENGTH, particles.x, particles.y, particles.z)
        found = field.get_potential_at_point(*at).value_in(nbody_system.potential)
        x, m = particles.position.value_in(LENGTH), particles.mass.value_in(MASS)
        d2 = ((x[None] - x[:, None]) ** 2).sum(-1)
        wanted = -np.where(d2 > 0.0, m / np.sqrt(d2 + 0.01 + eps**2), 0.0).sum(1)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)

    def test_no_particles_no_field(self):
        field = self.make(Particles())
        zero = 0.0 | LENGTH
        self.assertEqual(field.get_potential_at_point(zero, zero, zero, zero).number, 0.0)

    def test_the_precision_is_a_parameter(self):
        particles = new_plummer_model(3000)
        field = self.make(particles)
        at = (0 * particles.x, particles.x, particles.y, particles.z)
        double = field.get_gravity_at_point(*at)[0].number
        field.parameters.precision = "mixed"
        mixed = field.get_gravity_at_point(*at)[0].number
        difference = np.abs(double - mixed).max()
        self.assertTrue(1e-12 < difference < 1e-4, difference)
        with self.assertRaises(AmuseException):
            field.parameters.precision = "exact"
        self.assertEqual(field.parameters.precision, "mixed")

    def test_units(self):
        converter = nbody_system.nbody_to_si(1.0 | units.MSun, 1.0 | units.AU)
        field = GravityField(converter)
        self.addCleanup(field.stop)
        field.particles.add_particles(Particles(1, mass=1.0 | units.MSun, x=0 | units.AU, y=0 | units.AU, z=0 | units.AU))
        zero = 0.0 | units.AU
        acc = field.get_gravity_at_point(zero, 1.0 | units.AU, zero, zero)[0]
        wanted = -constants.G * (1.0 | units.MSun) / (1.0 | units.AU) ** 2
        self.assertAlmostEqual(acc / wanted, 1.0, 12)

    def test_what_is_not_finite_is_refused_with_words(self):
        self.particles[7].x = np.nan | LENGTH
        field = self.make(self.particles)
        zero = 0.0 | LENGTH
        with self.assertRaisesRegex(AmuseException, "x of particle 7 is NaN or infinite"):
            field.get_gravity_at_point(zero, zero, zero, zero)
        field.particles[7].position = [0.0, 0.0, 0.0] | LENGTH
        field.get_gravity_at_point(zero, zero, zero, zero)

    def test_bridge_has_the_energy_of_the_whole(self):
        halves = self.particles[:100].copy(), self.particles[100:].copy()
        codes = [Still(half) for half in halves]
        bridge = Bridge()
        for code, other in (codes, codes[::-1]):
            bridge.add_system(code, (CalculateFieldForCodesUsingReinitialize(self.make(Particles(), 0.0), (other,)),))
        wanted = self.particles.potential_energy(G=nbody_system.G)
        self.assertAlmostEqual(bridge.potential_energy / wanted, 1.0, 12)


class Still:
    """Particles in the place of a code."""

    def __init__(self, particles):
        self.particles = particles

    @property
    def potential_energy(self):
        return self.particles.potential_energy(G=nbody_system.G)


if __name__ == "__main__":
    unittest.main()
