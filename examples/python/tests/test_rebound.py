"""kirin's forces in REBOUND, beside REBOUND's own."""

import ctypes
import gc
import os
import unittest
import warnings

import numpy as np

import rebound

import kirin
import kirin.rebound

N = 10
# Settings of a simulation; others are those of its integrator.
SIMULATION = ("softening", "OMEGA", "N_active", "testparticle_type", "testparticle_hidewarnings", "root_size")


def system(integrator="leapfrog", dt=0.01, **settings):
    """A star and nine planets in regular orbits."""
    sim = rebound.Simulation()
    sim.G = 4.0
    sim.add(m=1.0)
    for k in range(1, N):
        sim.add(m=1e-6 * k, a=1.0 + 0.4 * k, e=0.02, inc=0.01 * k, f=2.1 * k)
    sim.move_to_com()
    sim.integrator = integrator
    sim.dt = dt
    # Steps that are chosen by the integrator depend on rounding.
    if integrator == "ias15":
        sim.integrator.epsilon = 0.0
    if integrator == "bs":
        sim.integrator.min_dt = sim.integrator.max_dt = dt
    for name, value in settings.items():
        setattr(sim if name in SIMULATION else sim.integrator, name, value)
    return sim


def state(sim):
    return np.array([[p.x, p.y, p.z, p.vx, p.vy, p.vz] for p in sim.particles])


# Every integrator that kirin takes, with each of its variants.
ALLOWED = (
    [("leapfrog", {"order": order}) for order in (2, 4, 6, 8)]
    + [("ias15", {}), ("bs", {}), ("janus", {}), ("sei", {"OMEGA": 1.0})]
    + [("whfast", {"coordinates": c}) for c in ("jacobi", "democraticheliocentric", "whds", "barycentric")]
    + [("whfast", {"kernel": "composition"}), ("whfast", {"corrector": 11}), ("whfast", {"corrector": 17, "corrector2": 1})]
    + [("whfast", {"safe_mode": 0})]
    + [("saba", {"type": t}) for t in ("1", "2", "3", "4", "10_4", "8_6_4", "10_6_4", "h_8_4_4", "h_8_6_4", "h_10_6_4")]
)

REFUSED = [
    ("mercurius", {}, "close encounters"),
    ("trace", {}, "close encounters"),
    ("eos", {}, "particle 0"),
    ("whfast512", {}, "whfast512"),
    ("whfast", {"kernel": "modifiedkick"}, "Jacobi"),
    ("whfast", {"kernel": "lazy"}, "Jacobi"),
    ("saba", {"type": "cm_1"}, "Jacobi"),
    ("saba", {"type": "cl_4"}, "Jacobi"),
]


class Equal(unittest.TestCase):
    def compare(self, make, steps=100, limit=1e-12):
        own, other = make(), make()
        kirin.rebound.attach(other)
        own.steps(steps)
        other.steps(steps)
        self.assertEqual(other.gravity, "custom")
        self.assertLess(np.abs(state(own) - state(other)).max(), limit)
        # The forces did something.
        self.assertGreater(np.abs(state(make()) - state(other)).max(), 1e-2)
        return own, other

    def test_every_integrator(self):
        for integrator, settings in ALLOWED:
            with self.subTest(integrator, **settings):
                self.compare(lambda: system(integrator, **settings))

    def test_steps_that_ias15_chooses(self):
        own, other = system("ias15"), system("ias15")
        kirin.rebound.attach(other)
        for sim in (own, other):
            sim.integrator.epsilon = 1e-9
            sim.integrate(20.0)
        self.assertGreater(other.steps_done, 100)
        self.assertLess(np.abs(state(own) - state(other)).max(), 1e-11)

    def test_softening_and_test_particles(self):
        for integrator in ("leapfrog", "ias15", "bs", "whfast", "saba"):
            for active in (1, 2, 5, N):
                for kind in (0, 1):
                    with self.subTest(integrator, N_active=active, testparticle_type=kind):
                        settings = {"N_active": active, "testparticle_type": kind, "testparticle_hidewarnings": 1}
                        self.compare(lambda: system(integrator, softening=0.1, **settings))

    def test_all_coordinates_with_test_particles(self):
        for coordinates in ("jacobi", "democraticheliocentric", "whds", "barycentric"):
            for active in (1, 2, 5):
                for kind in (0, 1):
                    with self.subTest(coordinates, N_active=active, testparticle_type=kind):
                        settings = {"N_active": active, "testparticle_type": kind, "testparticle_hidewarnings": 1}
                        self.compare(lambda: system("whfast", coordinates=coordinates, **settings))

    def test_masses_that_matter(self):
        """Of equal masses, so that each pair of particles is seen in the forces."""
        def make(kind, active, ignored):
            sim = system("none")
            for k, particle in enumerate(sim.particles):
                particle.m = 0.1 + 0.01 * k
            sim.N_active, sim.testparticle_type, sim.gravity_ignore = active, kind, ignored
            sim.softening = 0.2
            return sim

        for kind in (0, 1):
            for active in (0, 1, 2, 3, N, 2**64 - 1):
                for ignored in (0, 1, 2):
                    with self.subTest(testparticle_type=kind, N_active=active, gravity_ignore=ignored):
                        found = []
                        for attached in (False, True):
                            sim = make(kind, active, ignored)
                            if attached:
                                kirin.rebound.attach(sim)
                            rebound.clibrebound.reb_simulation_update_acceleration(ctypes.byref(sim))
                            found.append(np.array([[p.ax, p.ay, p.az] for p in sim.particles]))
                        self.assertLess(np.abs(found[0] - found[1]).max(), 1e-14)

    def test_what_changes_is_seen(self):
        def run(sim):
            sim.steps(5)
            sim.add(m=1e-3, a=8.0)
            sim.G = 1.0
            sim.steps(5)
            sim.remove(3)
            sim.softening = 0.3
            sim.particles[1].m = 1e-2
            sim.steps(5)
            sim.integrator = "whfast"
            sim.steps(5)
            return state(sim)

        own, other = system(), system()
        kirin.rebound.attach(other)
        self.assertLess(np.abs(run(own) - run(other)).max(), 1e-12)
        self.assertEqual(other.gravity, "custom")

    def test_additional_forces_are_added(self):
        def drag(pointer):
            for particle in pointer.contents.particles:
                particle.ax -= 0.1 * particle.vx

        def make():
            sim = system()
            sim.additional_forces = drag
            sim.force_is_velocity_dependent = 1
            return sim

        _, other = self.compare(make)
        without = system()
        without.steps(100)
        self.assertGreater(np.abs(state(without) - state(other)).max(), 1e-3)

    def test_the_precision_is_that_which_was_asked_for(self):
        def force(precision=None):
            rng = np.random.default_rng(1)
            sim = rebound.Simulation()
            for x in rng.normal(size=(2000, 3)):
                sim.add(m=1e-3, x=x[0], y=x[1], z=x[2])
            sim.softening = 0.1
            if precision:
                kirin.rebound.attach(sim, precision)
            rebound.clibrebound.reb_simulation_update_acceleration(ctypes.byref(sim))
            return np.array([[p.ax, p.ay, p.az] for p in sim.particles])

        own = force()
        self.assertLess(np.abs(force("double") - own).max(), 1e-13)
        mixed = np.abs(force("mixed") - own).max()
        self.assertTrue(1e-13 < mixed < 1e-6, mixed)


class Refused(unittest.TestCase):
    def test_at_once(self):
        for integrator, settings, reason in REFUSED:
            with self.subTest(integrator, **settings):
                sim = system(integrator, **settings)
                with self.assertRaisesRegex(kirin.UnsupportedError, reason):
                    kirin.rebound.attach(sim)
                self.assertEqual(sim.gravity, "basic")

    def test_what_is_no_simulation(self):
        with self.assertRaisesRegex(TypeError, "rebound.Simulation"):
            kirin.rebound.attach(3)
        with self.assertRaisesRegex(ValueError, "precision 'exact'"):
            kirin.rebound.attach(system(), "exact")

    def test_variational_particles(self):
        sim = system()
        sim.add_variation()
        with self.assertRaisesRegex(kirin.UnsupportedError, "variational"):
            kirin.rebound.attach(sim)

    def test_ghost_boxes(self):
        sim = system(root_size=100.0)
        sim.N_ghost_x = 1
        with self.assertRaisesRegex(kirin.UnsupportedError, "ghost"):
            kirin.rebound.attach(sim)

    def test_later_the_run_goes_on_with_its_own_gravity(self):
        def change(sim):
            sim.steps(3)
            sim.add_variation()
            return sim

        other = system()
        kirin.rebound.attach(other)
        change(other)
        with self.assertRaisesRegex(RuntimeError, "kirin: variational"):
            other.steps(10)
        self.assertEqual(other.gravity, "basic")
        own = change(system())
        own.steps(1)
        np.testing.assert_allclose(state(other), state(own), rtol=0, atol=1e-14)
        other.steps(9)
        own.steps(9)
        np.testing.assert_allclose(state(other), state(own), rtol=0, atol=1e-14)

    def test_integrators_that_are_chosen_later_are_right(self):
        """They put their own gravity in place of kirin's."""
        for integrator, settings, _ in REFUSED[:3] + REFUSED[4:]:
            with self.subTest(integrator, **settings):
                other = system()
                kirin.rebound.attach(other)
                chosen = system(integrator, **settings)
                other.integrator = integrator
                for name, value in settings.items():
                    setattr(other.integrator, name, value)
                chosen.steps(20)
                other.steps(20)
                np.testing.assert_allclose(state(other), state(chosen), rtol=0, atol=1e-13)

    def test_ctrl_c_leaves_the_right_force(self):
        for end in (KeyboardInterrupt, SystemExit):
            own, other = system(), system()
            kirin.rebound.attach(other)
            own.steps(7)
            other.steps(3)
            load = kirin.rebound._Sources.load

            def interrupted(sources, g):
                kirin.rebound._Sources.load = load
                raise end

            kirin.rebound._Sources.load = interrupted
            try:
                other.steps(4)
            except KeyboardInterrupt:
                # From REBOUND 5.2 on.
                other.steps(7 - other.steps_done)
            finally:
                kirin.rebound._Sources.load = load
            self.assertEqual((other.gravity, other.steps_done), ("custom", 7))
            self.assertLess(np.abs(state(own) - state(other)).max(), 1e-13)

    def test_what_a_pointer_shows_is_not_attached(self):
        sim, told = system(), []

        def heartbeat(pointer):
            try:
                kirin.rebound.attach(pointer.contents)
            except TypeError as error:
                told.append(str(error))

        sim.heartbeat = heartbeat
        sim.steps(2)
        self.assertEqual(sim.gravity, "basic")
        self.assertIn("attach the simulation itself", told[0])

    def test_a_number_that_is_not_finite(self):
        sim = system(N_active=5)
        kirin.rebound.attach(sim)
        sim.particles[7].x = float("nan")
        with self.assertRaisesRegex(RuntimeError, "kirin: x of particle 7 is NaN or infinite"):
            sim.steps(1)


class Lives(unittest.TestCase):
    def test_detached(self):
        own, other = system(), system()
        kirin.rebound.attach(other)
        kirin.rebound.detach(other)
        self.assertEqual(other.gravity, "basic")
        own.steps(10)
        other.steps(10)
        np.testing.assert_array_equal(state(own), state(other))

    def test_the_routine_lives_as_long_as_its_simulation(self):
        sims = [system() for _ in range(3)]
        for sim in sims:
            kirin.rebound.attach(sim)
        gc.collect()
        junk = [bytearray(1000) for _ in range(1000)]
        for sim in sims:
            sim.steps(2)
        del junk, sims, sim
        gc.collect()
        self.assertFalse([o for o in gc.get_objects() if isinstance(o, kirin.rebound._Hook)])

    def test_a_copy_is_attached_again(self):
        sim = system()
        kirin.rebound.attach(sim)
        sim.steps(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy = sim.copy()
        kirin.rebound.attach(copy)
        sim.steps(10)
        copy.steps(10)
        np.testing.assert_array_equal(state(sim), state(copy))

    def test_a_fork_goes_on(self):
        sim = system()
        kirin.rebound.attach(sim)
        sim.steps(3)
        child = os.fork()
        if child == 0:
            try:
                sim.steps(3)
                os._exit(0 if sim.gravity == "custom" else 1)
            except BaseException:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        sim.steps(3)

    def test_no_particles(self):
        sim = rebound.Simulation()
        sim.integrator = "leapfrog"
        kirin.rebound.attach(sim)
        with self.assertRaises(rebound.NoParticles):
            sim.integrate(1.0)


if __name__ == "__main__":
    unittest.main()
