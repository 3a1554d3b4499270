"""Tree: gravity by a Barnes-Hut tree."""

import ctypes

from . import _arrays, _library
from ._arrays import new, number, numbers, put_numbers, put_vectors, vectors
from ._errors import raise_for
from ._gravity import Forces
from ._handle import Handle, held

_byref = ctypes.byref


class Tree(Handle):
    """Point masses and their gravity by a tree, with G = 1: approximate, and for many sources faster than a `Gravity`.

    A cell of the tree with the edge l acts as a whole on points at distances greater than l / theta + delta from its
    centre of mass, where delta is the distance of its centre of mass from its centre. With `quadrupoles` its quadrupole
    moment acts, too. Typical relative errors of accelerations in a Plummer model: 1e-3 at theta = 0.8 without, 1.5e-4 at
    0.6 with quadrupoles.

    What is said of `Gravity` about units, closing, threads, forks and arrays holds here.

    Parameters
    ----------
    x : (n, 3)
        Positions.
    m : (n,) or a number
        Masses, from 0 on.
    precision : str, optional
        As for `Gravity`; "mixed" by default, whose error is far below that of the tree.

    Examples
    --------
    >>> import numpy as np, kirin
    >>> x = np.random.default_rng(1).normal(size=(10000, 3))
    >>> with kirin.Tree(x, 1e-4) as tree:
    ...     acc = tree.accelerations(theta=0.6, eps=0.01)
    ...     far = tree.potentials([[1000.0, 0.0, 0.0]], theta=0.6)
    >>> exact = kirin.accelerations(x, 1e-4, eps=0.01)
    >>> bool(np.median(np.linalg.norm(acc - exact, axis=1) / np.linalg.norm(exact, axis=1)) < 1e-3)
    True
    """

    __slots__ = ()
    _opens = staticmethod(_library.tree_open)

    def __init__(self, x=None, m=None, *, precision=None):
        self._open()
        try:
            if precision is not None:
                self.set_precision(precision)
            if x is not None or m is not None:
                self.set_sources(x, m)
        except BaseException:
            self.close()
            raise

    def set_sources(self, x, m):
        """Replaces all sources, and builds the tree. The arguments are those of the class."""
        if x is None or m is None:
            raise TypeError("sources have positions x and masses m")
        x = vectors(x, "x")
        m = numbers(m, "m", len(x))
        sources = _library.Sources()
        put_vectors(sources, "x", x)
        put_numbers(sources, "mass", m)
        status = self._lock.hold(
            self._handle, lambda: _library.tree_set_sources(self._handle, len(x), _byref(sources))
        )
        if status < 0:
            raise_for(status)

    @held(again=True)
    def accelerations(self, x=None, *, theta=0.7, quadrupoles=False, eps=0.0, source=None, out=None):
        """Accelerations at points, (n, 3), or of the sources themselves where `x` is not given.

        Parameters
        ----------
        theta : number
            The opening angle, from 0 on; 0 sums over all sources.
        quadrupoles : bool
            Whether cells have quadrupoles.
        x, eps, source, out
            As for `Gravity.accelerations`.
        """
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, eps, source)
        acc = _arrays.results(results, "acc", (n, 3), out, keep[0])
        self._compute(theta, quadrupoles, eps2, n, targets, results)
        del keep
        return _arrays.in_place(acc, out)

    @held(again=True)
    def potentials(self, x=None, *, theta=0.7, quadrupoles=False, eps=0.0, source=None, out=None):
        """Potentials at points, (n,). The arguments are those of `accelerations`."""
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, eps, source)
        pot = _arrays.results(results, "pot", (n,), out, keep[0])
        self._compute(theta, quadrupoles, eps2, n, targets, results)
        del keep
        return _arrays.in_place(pot, out)

    @held(again=True)
    def forces(self, x=None, *, theta=0.7, quadrupoles=False, eps=0.0, source=None):
        """Accelerations and potentials at points, as `Forces` without jerks and neighbours."""
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, eps, source)
        acc, pot = new(results, "acc", (n, 3)), new(results, "pot", n)
        self._compute(theta, quadrupoles, eps2, n, targets, results)
        del keep
        return Forces(acc, None, pot, None, None)

    def _compute(self, theta, quadrupoles, eps2, n, targets, results):
        status = _library.tree_forces(
            self._handle, number(theta, "theta"), bool(quadrupoles), eps2, n, _byref(targets), _byref(results)
        )
        if status < 0:
            raise_for(status)
