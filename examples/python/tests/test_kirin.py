"""The package as users have it: installed, without compilers. `examples/python/check` runs this in a fresh environment."""

import doctest
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import kirin
import kirin._gravity
import kirin._handle
import kirin._library
import kirin._pieces
import kirin._tree

RNG = np.random.default_rng(5)


def plain(x, m, eps2, at, v=None, v_at=None):
    """Accelerations, jerks and potentials by the definition."""
    d = x[None] - at[:, None]
    w = np.zeros_like(d) if v is None else v[None] - v_at[:, None]
    r2 = (d**2).sum(-1) + eps2
    with np.errstate(divide="ignore", invalid="ignore"):
        m_r = np.where(r2 > 0.0, m / np.sqrt(r2), 0.0)
        m_r3 = np.where(r2 > 0.0, m_r / r2, 0.0)
        q = np.where(r2 > 0.0, 3.0 * (d * w).sum(-1) / r2, 0.0)
    jerk = (m_r3[..., None] * (w - q[..., None] * d)).sum(1)
    return (m_r3[..., None] * d).sum(1), jerk, -m_r.sum(1)


class Numbers(unittest.TestCase):
    def setUp(self):
        self.n = 300
        self.x, self.v = RNG.normal(size=(2, self.n, 3))
        self.m = RNG.normal(size=self.n)

    def near(self, found, wanted, of=1e-12):
        self.assertLess(np.abs(found - wanted).max(), of * np.abs(wanted).max())

    def test_accelerations_are_the_plain_sum(self):
        for eps in (0.0, 0.1):
            wanted, _, _ = plain(self.x, self.m, eps**2, self.x)
            self.near(kirin.accelerations(self.x, self.m, eps), wanted)
        eps = np.abs(RNG.normal(size=self.n))
        wanted, _, _ = plain(self.x, self.m, eps[:, None] ** 2, self.x)
        self.near(kirin.accelerations(self.x, self.m, eps), wanted)

    def test_the_precision_is_that_which_was_asked_for(self):
        # More than those that "auto" computes in double precision.
        x = RNG.normal(size=(3000, 3))
        wanted, _, _ = plain(x, 1.0, 0.01, x[:100])
        self.near(kirin.accelerations(x, 1.0, 0.1)[:100], wanted)
        mixed = kirin.accelerations(x, 1.0, 0.1, precision="mixed")
        self.near(mixed[:100], wanted, 1e-5)
        self.assertGreater(np.abs(mixed[:100] - wanted).max(), 1e-12)
        with kirin.Gravity(x, 1.0) as gravity:
            found = gravity.accelerations(eps=0.1)
            self.assertEqual(gravity.precision, "mixed")
            np.testing.assert_array_equal(found, mixed)
        with kirin.Gravity(x, 1.0, precision="double") as gravity:
            gravity.accelerations()
            self.assertEqual(gravity.precision, "double")
            self.assertTrue(gravity.backend)

    def test_any_layout_is_the_same_array(self):
        wanted = kirin.accelerations(self.x, self.m, 0.1)
        stars = np.zeros(self.n, dtype=[("id", "i4"), ("m", "f8"), ("x", "f8", 3)])
        stars["x"], stars["m"] = self.x, self.m
        frozen = self.x.copy()
        frozen.setflags(write=False)
        layouts = [
            (np.asfortranarray(self.x), self.m),
            (frozen, self.m),
            (stars["x"], stars["m"]),
            (np.ascontiguousarray(self.x[::-1])[::-1], np.ascontiguousarray(self.m[::-1])[::-1]),
            (np.repeat(self.x, 2, 0)[::2], np.repeat(self.m, 2)[::2]),
            (np.ascontiguousarray(self.x[:, ::-1])[:, ::-1], self.m),
            (self.x.astype(">f8"), self.m.astype(">f8")),
            (self.x.tolist(), self.m.tolist()),
        ]
        for x, m in layouts:
            np.testing.assert_array_equal(kirin.accelerations(x, m, 0.1), wanted)
            out = np.asfortranarray(np.zeros((self.n, 3)))
            self.assertIs(kirin.accelerations(x, m, 0.1, out=out), out)
            np.testing.assert_array_equal(out, wanted)
        x = self.x.copy()
        kirin.accelerations(x, self.m, 0.1, out=x)
        np.testing.assert_array_equal(x, wanted)
        one = kirin.accelerations(self.x, np.broadcast_to(2.0, self.n))
        np.testing.assert_array_equal(one, kirin.accelerations(self.x, 2))
        self.assertEqual(kirin.accelerations(np.empty((0, 3)), []).shape, (0, 3))

    def test_no_copy_is_made(self):
        for x in (self.x, np.asfortranarray(self.x), np.zeros((self.n, 4))[:, 1:]):
            self.assertIs(kirin._gravity.vectors(x, "x"), x)
        self.assertIs(kirin._gravity.numbers(self.x[:, 1], "m").base, self.x.base)
        kind = type("Kind", (np.ndarray,), {})
        self.assertTrue(np.shares_memory(kirin._gravity.vectors(self.x.view(kind), "x"), self.x))

    def test_files_in_memory_are_arrays_and_take_results(self):
        wanted = kirin.accelerations(self.x, self.m)
        with tempfile.TemporaryFile() as file:
            x = np.memmap(file, np.float64, "w+", shape=self.x.shape)
            x[...] = self.x
            self.assertTrue(np.shares_memory(kirin._gravity.vectors(x, "x"), x))
            out = np.memmap(file, np.float64, "r+", x.nbytes, x.shape)
            self.assertIs(kirin.accelerations(x, self.m, out=out), out)
            np.testing.assert_array_equal(out, wanted)
            self.assertIs(kirin.accelerations(x, self.m, out=x), x)
            np.testing.assert_array_equal(x, wanted)
            read = np.memmap(file, np.float64, "r", 0, x.shape)
            with self.assertRaisesRegex(ValueError, "written"):
                kirin.accelerations(self.x, self.m, out=read)
            del x, out, read

    def test_one_call_after_another_has_the_bits_of_each_alone(self):
        spare = kirin._gravity._spare.setdefault(os.getpid(), [])
        del spare[:]
        for n, eps, precision in [(300, 0.1, "double"), (5, 0.0, "double"), (4096, 0.1, "mixed"), (700, 0.1, "auto"), (0, 0.0, "mixed")]:
            x, m = RNG.normal(size=(n, 3)), RNG.normal(size=n)
            found = kirin.accelerations(x, m, eps, precision=precision)
            with kirin.Gravity(x, m, precision=precision) as gravity:
                np.testing.assert_array_equal(found, gravity.accelerations(eps=eps))
            with self.assertRaises(ValueError):
                kirin.accelerations(x, m, -1.0)
            with self.assertRaises(ValueError):
                kirin.accelerations(x, m, precision="exact")
            self.assertEqual(len(spare), 0)
            np.testing.assert_array_equal(kirin.accelerations(x, m, eps, precision=precision), found)
            self.assertEqual(len(spare), 1)
        # Many particles are not kept.
        kirin.accelerations(RNG.normal(size=(4097, 3)), 1.0, precision="mixed")
        self.assertEqual(len(spare), 0)

    def test_jerks_potentials_nearest_and_predictions(self):
        with kirin.Gravity(self.x, self.m, v=self.v, precision="double") as gravity:
            at, v_at = RNG.normal(size=(2, 40, 3))
            found = gravity.forces(at, v_at, eps=0.1, time=0.5, jerk=True, potential=True, nearest=True)
            moved = self.x + 0.5 * self.v
            acc, jerk, pot = plain(moved, self.m, 0.01, at, self.v, v_at)
            self.near(found.acc, acc)
            self.near(found.jerk, jerk)
            self.near(found.pot, pot)
            distance = np.linalg.norm(moved[None] - at[:, None], axis=-1)
            np.testing.assert_array_equal(found.nearest, distance.argmin(1))
            self.near(found.distance, distance.min(1))
            np.testing.assert_array_equal(gravity.potentials(at, eps=0.1, time=0.5), found.pot)
            self.assertIsNone(gravity.forces(at).pot)
            # The sources themselves, also by list: each leaves itself out.
            acc, jerk, pot = plain(moved, self.m, 0.01, moved, self.v, self.v)
            found = gravity.forces(eps=0.1, time=0.5, jerk=True, potential=True)
            self.near(found.acc, acc)
            self.near(found.jerk, jerk)
            self.near(found.pot, pot + self.m / 0.1)
            some = gravity.accelerations(source=[7, 3], eps=0.1, time=0.5)
            np.testing.assert_array_equal(some, found.acc[[7, 3]])

    def test_one_point_has_the_bits_of_many(self):
        at, v_at = RNG.normal(size=(2, 3, 3))
        at[1] = self.x[7]
        eps = np.array([0.0, 0.2, 0.3])
        with kirin.Gravity(self.x, self.m, v=self.v, precision="double") as gravity:
            for wanted in itertools.product([False, True], repeat=4):
                moving, *named = wanted
                named = dict(zip(["jerk", "potential", "nearest"], named), time=0.25)
                found = gravity.forces(at, v_at if moving else None, eps=eps, **named)
                for k in range(3):
                    v_one = v_at[k : k + 1] if moving else None
                    each = [gravity.forces(at[k : k + 1], v_one, eps=of, **named) for of in (eps[k], eps[k : k + 1])]
                    for one, name in itertools.product(each, found._fields):
                        many = getattr(found, name)
                        if many is None:
                            self.assertIsNone(getattr(one, name))
                        else:
                            np.testing.assert_array_equal(getattr(one, name), many[k : k + 1])
            # Without jerks the velocities have no effect.
            for n in (1, 3):
                forces = [gravity.forces(at[:n], v) for v in (None, np.full((n, 3), np.nan))]
                np.testing.assert_array_equal(forces[0].acc, forces[1].acc)
            # The next call leaves the results as they are.
            first = gravity.forces(at[:1], jerk=True, potential=True, nearest=True)
            kept = [array.copy() for array in first]
            gravity.forces(at[2:], v_at[2:], jerk=True, potential=True, nearest=True)
            for array, wanted in zip(first, kept):
                np.testing.assert_array_equal(array, wanted)

    def test_results_may_lie_over_the_positions(self):
        # More than those that the library computes at a time.
        x = RNG.normal(size=(40_000, 3))
        with kirin.Gravity(self.x, self.m) as gravity:
            wanted, pot = gravity.accelerations(x, eps=0.1), gravity.potentials(x, eps=0.1)
            other = x.copy()
            self.assertIs(gravity.accelerations(other, eps=0.1, out=other), other)
            np.testing.assert_array_equal(other, wanted)
            room = np.concatenate([np.empty((10_000, 3)), x])
            gravity.accelerations(room[10_000:], eps=0.1, out=room[::-1][10_000:])
            np.testing.assert_array_equal(room[::-1][10_000:], wanted)
            other = x.copy()
            gravity.potentials(other, eps=0.1, out=other[::-1, 0])
            np.testing.assert_array_equal(other[::-1, 0], pot)

    def test_forces_are_those_at_the_time_of_the_sources(self):
        at_rest = kirin.accelerations(self.x, self.m, 0.1)
        with kirin.Gravity(self.x, self.m, v=self.v, time=5.0) as gravity:
            self.near(gravity.accelerations(eps=0.1), at_rest)
            self.near(gravity.forces(self.x[:1], eps=0.1).acc, plain(self.x, self.m, 0.01, self.x[:1])[0])
            then = gravity.accelerations(eps=0.1, time=0.0)
            self.assertGreater(np.abs(then - at_rest).max(), 1e-3)
            gravity.update(np.arange(self.n), x=self.x, time=np.full(self.n, 6.0))
            self.near(gravity.accelerations(eps=0.1), at_rest)
            gravity.update([3], time=[6.0])
            self.near(gravity.potentials(eps=0.1), plain(self.x, self.m, 0.01, self.x)[2] + self.m / 0.1)
            gravity.update([3], time=[7.0])
            for call in (gravity.accelerations, gravity.potentials, gravity.forces, lambda: gravity.neighbours(1.0)):
                with self.assertRaisesRegex(ValueError, "several times"):
                    call()
            gravity.accelerations(time=7.0)
            gravity.set_sources(self.x, self.m)
            self.near(gravity.accelerations(eps=0.1), at_rest)

    def test_a_number_of_numpy_is_the_softening_length_of_all(self):
        with kirin.Gravity(self.x, self.m) as gravity:
            wanted = gravity.accelerations(eps=0.25)
            for eps in (np.float32(0.25), np.float64(0.25), np.array(0.25)):
                np.testing.assert_array_equal(gravity.accelerations(eps=eps), wanted)

    def test_one_number_is_refused_where_sources_have_softening_lengths_of_their_own(self):
        own = np.full(self.n, 0.25)
        with kirin.Gravity(self.x, self.m, eps=own) as gravity:
            wanted = plain(self.x, self.m, 2 * 0.25**2, self.x)[0]
            self.near(gravity.accelerations(self.x, eps=0.25), wanted)
            self.near(gravity.accelerations(eps=own), wanted)
            gravity.forces(), gravity.forces(self.x[:1], eps=5.0)
            for eps in (5.0, 0, np.float64(0.1), np.array(0.1)):
                for call in (gravity.accelerations, gravity.potentials, gravity.forces):
                    with self.assertRaisesRegex(ValueError, "softening lengths of their own"):
                        call(eps=eps)
            gravity.set_sources(self.x, self.m)
            gravity.forces(eps=5.0)

    def test_what_has_no_unit_and_no_mask_is_an_array(self):
        wanted = kirin.accelerations(self.x, self.m)
        masked = np.ma.array(self.x, mask=np.zeros_like(self.x, bool))
        for unit in (None, "", "dimensionless", "NoUnit()"):
            for attribute in ("unit", "units"):
                x = WithUnit(self.x, unit, attribute)
                np.testing.assert_array_equal(kirin.accelerations(x, self.m), wanted)
        np.testing.assert_array_equal(kirin.accelerations(masked, self.m), wanted)

    def test_updates_by_index(self):
        with kirin.Gravity(self.x, self.m) as gravity:
            index = RNG.permutation(self.n)[:50]
            self.x[index], self.m[index[:20]] = RNG.normal(size=(50, 3)), 3.0
            gravity.update(index, x=self.x[index])
            gravity.update(index[:20], m=3.0)
            found = gravity.accelerations(eps=0.1)
        np.testing.assert_array_equal(found, kirin.accelerations(self.x, self.m, 0.1, precision="auto"))

    def test_softening_of_sources(self):
        eps = np.abs(RNG.normal(size=self.n))
        with kirin.Gravity(self.x, self.m, eps=eps) as gravity:
            found = gravity.accelerations(self.x, eps=0.1)
            self.near(found, plain(self.x, self.m, eps**2 + 0.01, self.x)[0])
            found = gravity.accelerations()
            self.near(found, plain(self.x, self.m, eps**2 + eps[:, None] ** 2, self.x)[0])

    def test_neighbours(self):
        radius = np.abs(RNG.normal(size=self.n))
        with kirin.Gravity(self.x, self.m) as gravity:
            offsets, indices = gravity.neighbours(radius)
            distance = np.linalg.norm(self.x[None] - self.x[:, None], axis=-1)
            np.fill_diagonal(distance, np.inf)
            for k in range(self.n):
                near = np.flatnonzero(distance[k] < radius[k])
                np.testing.assert_array_equal(indices[offsets[k] : offsets[k + 1]], near)


class Trees(unittest.TestCase):
    def setUp(self):
        self.n = 3000
        self.x = RNG.normal(size=(self.n, 3)) * RNG.uniform(size=(self.n, 1))
        self.m = RNG.uniform(size=self.n)
        self.eps = 0.05

    def error(self, found, wanted):
        return np.median(np.linalg.norm(found - wanted, axis=1) / np.linalg.norm(wanted, axis=1))

    def test_errors_fall_to_those_of_the_direct_sum(self):
        acc, _, pot = plain(self.x, self.m, self.eps**2, self.x)
        with kirin.Tree(self.x, self.m, precision="double") as tree:
            self.assertEqual((len(tree), tree.closed, repr(tree)), (3000, False, "<kirin.Tree: 3000 sources>"))
            errors = [
                self.error(tree.accelerations(theta=theta, quadrupoles=quadrupoles, eps=self.eps), acc)
                for theta, quadrupoles in [(0.8, False), (0.5, False), (0.5, True), (0.0, False)]
            ]
            self.assertEqual(errors, sorted(errors, reverse=True))
            self.assertTrue(1e-4 < errors[0] < 3e-3 and errors[2] < 2e-4 and errors[3] < 1e-12, errors)
            found = tree.forces(theta=0.5, quadrupoles=True, eps=self.eps)
            own = self.m / self.eps
            self.assertLess(np.abs(found.pot - own - pot).max(), 1e-3 * np.abs(pot).max())
            self.assertIsNone(found.jerk)
            self.assertTrue((found.acc == tree.accelerations(theta=0.5, quadrupoles=True, eps=self.eps)).all())

    def test_points_columns_and_results_in_place(self):
        points = 2.0 * RNG.normal(size=(500, 3))
        acc, _, pot = plain(self.x, self.m, 0.0, points)
        columns = np.asfortranarray(self.x)
        with kirin.Tree(columns, self.m) as tree:
            self.assertLess(self.error(tree.accelerations(points, theta=0.5, quadrupoles=True), acc), 1e-3)
            found = tree.potentials(points, theta=0.5, quadrupoles=True)
            self.assertLess(np.abs(found / pot - 1.0).max(), 1e-2)
            out = points.copy()
            self.assertIs(tree.accelerations(out, theta=0.5, out=out), out)
            self.assertTrue((out == tree.accelerations(points, theta=0.5)).all())

    def test_refusals(self):
        tree = kirin.Tree(self.x, 1.0)
        for words, call in [
            ("m of particle 0 is negative", lambda: tree.set_sources(self.x, -1.0)),
            ("theta is negative", lambda: tree.accelerations(theta=-1.0)),
            ("x of particle 1 is NaN or infinite", lambda: tree.accelerations([[0, 0, 0], [np.nan, 0, 0]])),
            (r"x has the shape \(2, 2\)", lambda: tree.accelerations([[0, 0], [0, 0]])),
        ]:
            with self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaises(TypeError):
            kirin.Tree(self.x)
        tree.close()
        with self.assertRaises(kirin.ClosedError):
            tree.accelerations()


class WithUnit(np.ndarray):
    """An array with a unit, as astropy (`unit`), pynbody, unyt and pint (`units`) have them."""

    def __new__(cls, values, unit, attribute):
        array = np.asarray(values, float).view(cls)
        setattr(array, attribute, unit)
        return array

    def __array_finalize__(self, source):
        for attribute in ("unit", "units"):
            if hasattr(source, attribute):
                setattr(self, attribute, getattr(source, attribute))


class Refusals(unittest.TestCase):
    def setUp(self):
        self.x = RNG.normal(size=(10, 3))
        self.gravity = kirin.Gravity(self.x, 1.0)
        self.before = self.gravity.accelerations()

    def tearDown(self):
        # Nothing was lost.
        np.testing.assert_array_equal(self.gravity.accelerations(), self.before)
        self.gravity.close()

    def refuse(self, error, words, call, *arguments, **named):
        with self.assertRaises(error) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))

    def test_shapes_types_and_numbers(self):
        bad, g = self.x.copy(), self.gravity
        bad[3, 1] = np.nan
        masked = np.ma.array(self.x, mask=self.x > 0)
        for error, words, call, arguments, named in [
            (ValueError, "x has the shape (10,), but (n, 3) is needed", g.set_sources, (np.ones(10), 1), {}),
            (ValueError, "x has the shape (10, 2)", g.set_sources, (np.ones((10, 2)), 1), {}),
            (ValueError, "m has the shape (9,), but (10,) is needed", g.set_sources, (self.x, np.ones(9)), {}),
            (ValueError, "v has the shape (9, 3), but (10, 3) is needed", g.set_sources, (self.x, 1), {"v": np.ones((9, 3))}),
            (ValueError, "x is no array of one shape", g.set_sources, ([[1, 2, 3], [1]], 1), {}),
            (TypeError, "real numbers", g.set_sources, (self.x.astype(complex), 1), {}),
            (TypeError, "real numbers", g.set_sources, ([["a", "b", "c"]], 1), {}),
            (TypeError, "masked", g.set_sources, (masked, 1), {}),
            (TypeError, "unit (kpc)", g.set_sources, (WithUnit(self.x, "kpc", "unit"), 1), {}),
            (TypeError, "unit (kpc)", g.set_sources, (WithUnit(self.x, "kpc", "units"), 1), {}),
            (TypeError, "unit (kpc)", g.set_sources, (list(WithUnit(self.x, "kpc", "units")), 1), {}),
            (TypeError, "unit (Myr)", g.accelerations, (), {"time": WithUnit(1.0, "Myr", "units")}),
            (TypeError, "unit (kpc)", g.accelerations, (), {"eps": WithUnit(1.0, "kpc", "units")}),
            (TypeError, "eps of the sources is (n,)", g.set_sources, (self.x, 1), {"eps": np.float32(0.1)}),
            (TypeError, "real numbers", g.accelerations, (), {"eps": np.array("0.1")}),
            (TypeError, "real numbers", g.accelerations, (), {"eps": np.array(0.1 + 2j)}),
            (TypeError, "masked", g.accelerations, (), {"eps": np.ma.masked}),
            (TypeError, "positions x and masses m", g.set_sources, (self.x, None), {}),
            *((TypeError, "positions x and masses m", kirin.Gravity, (), {name: self.x}) for name in ("v", "acc", "jerk", "snap", "time", "eps")),
            (TypeError, "eps of the sources is (n,)", g.set_sources, (self.x, 1), {"eps": 0.1}),
            (ValueError, "x of particle 3 is NaN or infinite", g.set_sources, (bad, 1), {}),
            (ValueError, "m of particle 2 is NaN or infinite", g.update, ([5, 6, 7],), {"m": [1, 2, np.inf]}),
            (ValueError, "index = 10", g.update, ([10],), {"m": [1]}),
            (ValueError, "index = -1", g.update, ([-1],), {"m": [1]}),
            (TypeError, "integers", g.update, ([0.5],), {"m": [1]}),
            (kirin.UnsupportedError, "eps in an update of sources", g.update, ([1],), {"eps": [1.0]}),
            (ValueError, "source = 10", g.accelerations, (self.x,), {"source": np.arange(10) + 1}),
            (ValueError, "x of particle 3", g.accelerations, (bad,), {}),
            (ValueError, "eps is negative", g.accelerations, (), {"eps": -1.0}),
            (ValueError, "eps of particle 0 is negative", g.accelerations, (), {"eps": -np.ones(10)}),
            (ValueError, "eps is NaN", g.accelerations, (), {"eps": np.nan}),
            (ValueError, "eps is too large", g.accelerations, (), {"eps": 1e200}),
            (ValueError, "eps of particle 3 is too large", g.accelerations, (), {"eps": np.where(np.arange(10) == 3, 1e200, 0.1)}),
            (ValueError, "radius is too large", g.neighbours, (1e200,), {}),
            (ValueError, "eps is beyond", g.accelerations, (), {"eps": 10**400}),
            (TypeError, "time has the type ndarray", g.accelerations, (), {"time": np.ones(10)}),
            (TypeError, "time is a text", g.accelerations, (), {"time": "1"}),
            (TypeError, "softening", kirin.Gravity, (self.x, 1), {"softening": 0.1}),
            (ValueError, "time is NaN", g.accelerations, (), {"time": np.nan}),
            (ValueError, "out has the shape", g.accelerations, (), {"out": np.empty((9, 3))}),
            (TypeError, "float64", g.accelerations, (), {"out": np.empty((10, 3), "f4")}),
            (TypeError, "float64", g.accelerations, (), {"out": np.ma.array(self.x)}),
            (TypeError, "out has a unit (kpc)", g.accelerations, (), {"out": WithUnit(self.x, "kpc", "unit")}),
            (ValueError, "written", g.accelerations, (), {"out": np.broadcast_to(0.0, (10, 3))}),
            (TypeError, "without positions", g.forces, (None, self.x), {}),
            (ValueError, "x of particle 0 is NaN or infinite", g.forces, (bad[3:4],), {}),
            (ValueError, "v of particle 0 is NaN or infinite", g.forces, (self.x[:1], bad[3:4]), {"jerk": True}),
            (ValueError, "v has the shape (10, 3), but (1, 3)", g.forces, (self.x[:1], self.x), {}),
            (ValueError, "eps is NaN", g.forces, (self.x[:1],), {"eps": np.nan}),
            (ValueError, "eps of particle 0 is negative", g.forces, (self.x[:1],), {"eps": [-1.0]}),
            (TypeError, "time is a text", g.forces, (self.x[:1],), {"time": "1"}),
            (ValueError, "precision 'exact' is none of", g.set_precision, ("exact",), {}),
            (ValueError, "none of", kirin.Gravity, (self.x, 1), {"precision": 3}),
        ]:
            with self.subTest(words=words):
                self.refuse(error, words, call, *arguments, **named)

    def test_a_closed_one(self):
        with kirin.Gravity(self.x, 1.0) as gravity:
            self.assertFalse(gravity.closed)
        self.assertTrue(gravity.closed)
        gravity.close()
        self.assertEqual(repr(gravity), "<kirin.Gravity: closed>")
        for call in (gravity.accelerations, gravity.__enter__, lambda: len(gravity), lambda: gravity.neighbours(1.0)):
            self.refuse(kirin.ClosedError, "this object is closed", call)
        self.refuse(kirin.ClosedError, "closed", gravity.accelerations, self.x)
        self.refuse(kirin.ClosedError, "closed", gravity.forces, self.x[:1])
        self.refuse(kirin.ClosedError, "closed", gravity.set_sources, self.x, 1)
        self.refuse(kirin.ClosedError, "closed", gravity.update, [1], m=1)

    @unittest.skipUnless(hasattr(os, "fork"), "SKIPPED: no fork")
    def test_a_child_makes_its_own(self):
        alone = kirin.accelerations(self.x, 1.0)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                np.testing.assert_array_equal(kirin.accelerations(self.x, 1.0), alone)
                self.refuse(kirin.ForkError, "make another one here", self.gravity.accelerations, self.x)
                self.refuse(kirin.ForkError, "make another one here", self.gravity.forces, self.x[:1])
                self.gravity.close()
                with kirin.Gravity(self.x, 1.0) as own:
                    np.testing.assert_array_equal(own.accelerations(), self.before)
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Processes(unittest.TestCase):
    def test_other_threads_run_during_a_call(self):
        n = 6000
        with kirin.Gravity(RNG.normal(size=(n, 3)), 1.0, precision="double") as gravity:
            gravity.accelerations()
            during = []
            thread = threading.Thread(target=lambda: during.append(gravity.accelerations()))
            began = time.perf_counter()
            thread.start()
            ticks = 0
            while thread.is_alive():
                ticks += 1
                time.sleep(0)
            self.assertGreater(ticks, 20, f"{time.perf_counter() - began} s")

    def test_threads_share_one(self):
        x = RNG.normal(size=(500, 3))
        with kirin.Gravity(x, 1.0) as gravity:
            wanted, wrong = gravity.accelerations(eps=0.1), []

            def work(k):
                for _ in range(50):
                    if not np.array_equal(gravity.accelerations(eps=0.1), wanted):
                        wrong.append(1)
                for _ in range(500):
                    if not np.array_equal(gravity.forces(x[k : k + 1], eps=0.1).acc, points[k : k + 1]):
                        wrong.append(k)
                    if not np.array_equal(kirin.accelerations(x[k : k + 9], 1.0), groups[k]):
                        wrong.append(k)

            groups = [kirin.accelerations(x[k : k + 9], 1.0) for k in range(4)]
            points = gravity.accelerations(x, eps=0.1)
            threads = [threading.Thread(target=work, args=[k]) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_pieces_have_the_bits_of_one_call(self):
        n = 1100
        x, v = RNG.normal(size=(2, n, 3))
        m, eps = RNG.uniform(0.5, 1.0, size=(2, n))
        for sources in ({}, {"v": v}, {"eps": eps}):
            gravity = kirin.Gravity(x, m, **sources)
            some = np.arange(n)[::-3]
            calls = [
                lambda: gravity.forces(jerk=True, potential=True, nearest=True),
                lambda: gravity.forces(2.0 * x[::2], v[::2], eps=eps[::2], jerk=True),
                lambda: gravity.forces(x, source=np.arange(n), potential=True),
                lambda: (gravity.accelerations(source=some), gravity.potentials(x[:, ::-1])),
                lambda: (gravity.accelerations(out=np.zeros((n, 5))[:, 1:4]), gravity.potentials(out=np.zeros(2 * n)[::2])),
            ]
            for k, call in enumerate(calls):
                wanted = call()
                with mock.patch.object(kirin._pieces, "FIRST", 77 * n), mock.patch.object(kirin._pieces, "SHORT", 0.0):
                    found = call()
                for a, b in zip(found, wanted):
                    np.testing.assert_array_equal(a, b, f"{k} {list(sources)}")

    def test_what_is_refused_in_the_last_piece_changes_nothing(self):
        x = RNG.normal(size=(500, 3))
        gravity, out = kirin.Gravity(x, 1.0), np.zeros((500, 3))
        at = x.copy()
        at[498, 1] = np.nan
        with mock.patch.object(kirin._pieces, "FIRST", 1000):
            with self.assertRaisesRegex(ValueError, "x of particle 498 is NaN"):
                gravity.accelerations(at, out=out)
            with self.assertRaisesRegex(ValueError, "v of particle 498 is NaN"):
                gravity.forces(x, at, jerk=True)
        self.assertFalse(out.any())

    def test_ctrl_c_ends_a_long_call(self):
        x = RNG.normal(size=(500, 3))
        gravity, calls, told = kirin.Gravity(x, 1.0), [], []
        forces = kirin._library.forces

        def interrupted(*arguments):
            calls.append(arguments[3])
            if len(calls) == 3:
                signal.raise_signal(signal.SIGINT)
            return forces(*arguments)

        def changes(*_):
            for change in (lambda: gravity.set_sources(x[:9], 1.0), lambda: gravity.update([1], m=[2.0])):
                try:
                    change()
                except kirin.Error as error:
                    told.append(str(error))

        wanted = gravity.accelerations()
        with mock.patch.object(kirin._pieces, "FIRST", 20 * 500), mock.patch.object(kirin._library, "forces", interrupted):
            with self.assertRaises(KeyboardInterrupt):
                gravity.accelerations()
            self.assertEqual(calls, [500, 21, 42])
            del calls[:]
            # A handler that changes the sources meanwhile is refused.
            before = signal.signal(signal.SIGINT, changes)
            signal.alarm(60)
            try:
                np.testing.assert_array_equal(gravity.accelerations(), wanted)
            finally:
                signal.alarm(0)
                signal.signal(signal.SIGINT, before)
        self.assertEqual(len(told), 2)
        self.assertTrue(all("signal handler" in text for text in told))
        gravity.update([1], m=[1.0])
        np.testing.assert_array_equal(gravity.accelerations(), wanted)

    def test_ctrl_c_while_sources_change_leaves_no_forces_of_another_time(self):
        x, v = RNG.normal(size=(2, 50, 3))
        gravity = kirin.Gravity(x, 1.0, v=v)
        for name, change, sources in (
            ("set_sources", lambda: gravity.set_sources(2 * x, 1.0, v=v, time=np.ones(50)), {"time": np.ones(50)}),
            ("update_sources", lambda: gravity.update(range(50), x=2 * x, time=np.full(50, 2.0)), {"time": np.full(50, 2.0)}),
        ):
            library = getattr(kirin._library, name)

            def interrupted(*arguments):
                status = library(*arguments)
                signal.raise_signal(signal.SIGINT)
                return status

            with mock.patch.object(kirin._library, name, interrupted), self.assertRaises(KeyboardInterrupt):
                change()
            with self.assertRaisesRegex(ValueError, "several times"):
                gravity.accelerations()
            wanted = kirin.Gravity(2 * x, 1.0, v=v, **sources)
            np.testing.assert_array_equal(gravity.accelerations(time=3.0), wanted.accelerations(time=3.0))
            # Nothing is held: it can be changed, and computes.
            self.assertFalse(gravity._lock._lock.locked())
            gravity.set_sources(2 * x, 1.0, v=v, time=np.ones(50))
            gravity.accelerations()
        # What is refused changes nothing.
        with self.assertRaises(ValueError):
            gravity.update([50], time=[5.0])
        gravity.accelerations()

    def test_a_lock_that_a_dead_thread_held_last_is_free(self):
        lock = kirin._pieces.Lock()
        self.assertEqual(lock.hold(0, lambda: lock._lock.locked()), True)
        with self.assertRaises(KeyboardInterrupt):
            lock.hold(0, lambda: signal.raise_signal(signal.SIGINT))
        self.assertEqual(lock.hold(0, lambda: 7), 7)

    def test_sources_do_not_change_between_pieces(self):
        x = RNG.normal(size=(400, 3))
        gravity, forces, threads = kirin.Gravity(x, 1.0), kirin._library.forces, []

        def disturbed(*arguments):
            if not threads:
                threads.append(threading.Thread(target=gravity.update, args=[[0]], kwargs={"m": [1e6]}))
                threads[0].start()
                time.sleep(0.05)
            return forces(*arguments)

        wanted = gravity.accelerations()
        with mock.patch.object(kirin._pieces, "FIRST", 1000), mock.patch.object(kirin._library, "forces", disturbed):
            np.testing.assert_array_equal(gravity.accelerations(), wanted)
        threads[0].join()
        self.assertGreater(np.abs(gravity.accelerations() - wanted).max(), 1.0)

    def test_forces_and_changes_of_other_threads_wait_for_a_change(self):
        x, v = RNG.normal(size=(2, 60, 3))
        fewer = {"v": v[:40], "time": np.full(40, 5.0)}
        calls = [
            lambda of: of.accelerations(),
            lambda of: of.potentials(x),
            lambda of: of.accelerations(source=[1, 2], eps=[0.1, 0.2]),
            lambda of: of.forces(x[:1], nearest=True),
            lambda of: of.forces(jerk=True, potential=True),
            lambda of: of.neighbours(1.0),
            lambda of: of.update([3], m=[1.0]),
            lambda of: of.update([4], time=[5.0]),
        ]
        gravity, found, errors = kirin.Gravity(x, 1.0, v=v), {}, []

        def work(k):
            try:
                found[k] = calls[k](gravity)
            except Exception as error:
                errors.append((k, error))

        threads = [threading.Thread(target=work, args=[k]) for k in range(len(calls))]
        set_sources = kirin._library.set_sources

        def meanwhile(*arguments):
            for thread in threads:
                thread.start()
            time.sleep(0.1)
            return set_sources(*arguments)

        with mock.patch.object(kirin._library, "set_sources", meanwhile):
            gravity.set_sources(x[:40], 1.0, **fewer)
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        wanted = kirin.Gravity(x[:40], 1.0, **fewer)
        for k, call in enumerate(calls):
            other = call(wanted)
            for one, two in [] if other is None else zip(found[k], other):
                np.testing.assert_array_equal(one, two, str(k))
        np.testing.assert_array_equal(gravity.accelerations(), wanted.accelerations())

    def test_forces_of_a_tree_and_a_change_of_another_thread_wait_for_each_other(self):
        x = RNG.normal(size=(60, 3))
        for name in ("tree_forces", "tree_set_sources"):
            for ask in (
                lambda of: (of.accelerations(theta=0.0),),
                lambda of: (of.potentials(theta=0.0),),
                lambda of: of.forces(theta=0.0)[:3:2],
            ):
                tree, real, found = kirin.Tree(x, 1.0), getattr(kirin._library, name), []
                calls = [lambda: tree.set_sources(x[:40], 1.0), lambda: found.extend(ask(tree))]
                if name == "tree_forces":
                    calls.reverse()
                thread = threading.Thread(target=calls[1])

                def meanwhile(*arguments):
                    if not thread.ident:
                        thread.start()
                        time.sleep(0.05)
                    return real(*arguments)

                with mock.patch.object(kirin._library, name, meanwhile):
                    calls[0]()
                    thread.join()
                wanted = ask(kirin.Tree(x if name == "tree_forces" else x[:40], 1.0))
                for one, two in zip(found, wanted):
                    np.testing.assert_array_equal(one, two, name)
                self.assertEqual(len(found), len(wanted))

    def test_lists_are_those_of_their_thread(self):
        x = RNG.normal(size=(50, 3))
        gravity, offsets = kirin.Gravity(x, 1.0), kirin._library.neighbour_offsets
        thread = threading.Thread(target=gravity.neighbours, args=[9.0])

        def disturbed(*arguments):
            if not thread.ident:
                thread.start()
                time.sleep(0.05)
            return offsets(*arguments)

        wanted = gravity.neighbours(1.0)
        with mock.patch.object(kirin._library, "neighbour_offsets", disturbed):
            found = gravity.neighbours(1.0)
            thread.join()
        np.testing.assert_array_equal(found[1], wanted[1])

    def test_a_signal_handler_can_ask_for_forces_during_forces(self):
        x = RNG.normal(size=(50, 3))
        gravity, forces, found = kirin.Gravity(x, 1.0), kirin._library.forces, []

        def interrupted(*arguments):
            status = forces(*arguments)
            if not found:
                found.append(None)
                signal.raise_signal(signal.SIGINT)
            return status

        wanted = gravity.potentials()
        before = signal.signal(signal.SIGINT, lambda *_: found.append(gravity.potentials()))
        signal.alarm(60)
        try:
            with mock.patch.object(kirin._library, "forces", interrupted):
                np.testing.assert_array_equal(gravity.potentials(), wanted)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGINT, before)
        np.testing.assert_array_equal(found[1], wanted)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_child_of_a_fork_between_pieces_is_refused_and_does_not_wait(self):
        gravity = kirin.Gravity(RNG.normal(size=(9, 3)), 1.0)
        # As if another thread held it.
        with gravity._lock._lock:
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                try:
                    gravity.update([0], m=[1.0])
                except kirin.ForkError:
                    os._exit(7)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_nothing_is_printed(self):
        script = "import kirin\nkirin.accelerations([[0, 0, 0], [1, 0, 0]], 1)\ng = kirin.Gravity([[0, 0, 0]], 1)\ntry:\n    kirin.Gravity(eps2=1)\nexcept TypeError:\n    pass"
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, "", ""))

    def test_the_examples_of_the_docstrings(self):
        for module in (kirin, kirin._gravity, kirin._handle, kirin._tree):
            failed, attempted = doctest.testmod(module)
            self.assertEqual(failed, 0)
            self.assertGreater(attempted, 1)


if __name__ == "__main__":
    unittest.main()
