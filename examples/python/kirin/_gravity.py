"""Gravity: sources, and what they do at points."""

import ctypes
import os
from typing import NamedTuple, Optional

import numpy as np

from . import _arrays, _library, _pieces, _point
from ._arrays import INTEGER, new, number, numbers, put_numbers, put_vectors, squares, vectors
from ._errors import raise_for
from ._handle import Handle, held

_byref = ctypes.byref


class Forces(NamedTuple):
    """What `Gravity.forces` returns. What was not asked for is None."""

    #: Accelerations, (n, 3).
    acc: np.ndarray
    #: Their derivatives by time, (n, 3).
    jerk: Optional[np.ndarray]
    #: Potentials, (n,): negative for positive masses.
    pot: Optional[np.ndarray]
    #: Indices of the nearest sources, (n,); -1 where there is none.
    nearest: Optional[np.ndarray]
    #: Their distances, (n,), without softening; inf where there is none.
    distance: Optional[np.ndarray]


class Gravity(Handle):
    """Point masses and their gravity, with G = 1.

    Units are any with G = 1: with lengths in L and masses in M, accelerations are in G M / L^2, jerks in
    (G M / L^2) / sqrt(L^3 / (G M)), potentials in G M / L. Multiply by G in your units.

    A `Gravity` is closed by `close()`, at the end of a `with`, or when nothing refers to it any more. Threads may
    share it: their calls wait for each other, without Python's lock. The child of a fork makes its own. Ctrl-C ends forces
    within a second or so; an array `out` then has some of the results.

    Arrays of float64 are not copied, whatever their strides; others are converted.

    Parameters
    ----------
    x : (n, 3)
        Positions.
    m : (n,) or a number
        Masses, of any sign.
    v, acc, jerk, snap : (n, 3), optional
        First to fourth derivative of the positions at `time`, from which `forces(time=...)` predicts them.
    time : (n,) or a number, optional
        The time of each source; 0 by default. Forces are those at this time, unless they are asked for with a time of their own.
    eps : (n,), optional
        Softening lengths of the sources themselves. The square of the softening length of a pair is the sum of the squares
        of both. Such forces are computed in double precision on the CPU.
    precision : str, optional
        "auto" (the default), "mixed", "double", "single", "adaptive", "double-single" or "reduced". "auto" is double
        precision for up to about a thousand sources, depending on the backend, and "mixed" for more: accelerations are then
        exact to about 1e-7, at half of the cost. "reduced" has an error of up to 1.1e-3 a pair; sources that move are computed in
        "single" in its place. "adaptive" is "auto" here, because sources come without time steps. A user's KIRIN_PRECISION wins.

    Examples
    --------
    >>> import numpy as np, kirin
    >>> x = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    >>> with kirin.Gravity(x, [1.0, 3.0], precision="double") as gravity:
    ...     print(gravity.accelerations())
    ...     print(gravity.potentials([[1.0, 0.0, 0.0]]))
    [[ 0.75  0.    0.  ]
     [-0.25  0.    0.  ]]
    [-4.]
    """

    # The time of all sources, or None if they have several; whether they have softening lengths of their own.
    __slots__ = ("_time", "_softened")
    _opens = staticmethod(_library.open_)

    def __init__(
        self, x=None, m=None, *, v=None, acc=None, jerk=None, snap=None, time=None, eps=None, precision=None
    ):
        self._open()
        self._time, self._softened = 0.0, False
        try:
            if precision is not None:
                self.set_precision(precision)
            if any(given is not None for given in (x, m, v, acc, jerk, snap, time, eps)):
                self.set_sources(x, m, v=v, acc=acc, jerk=jerk, snap=snap, time=time, eps=eps)
        except BaseException:
            self.close()
            raise

    def set_sources(self, x, m, *, v=None, acc=None, jerk=None, snap=None, time=None, eps=None):
        """Replaces all sources. The arguments are those of the class.

        >>> gravity = Gravity()
        >>> gravity.set_sources([[0, 0, 0], [0, 0, 3]], 1.0)
        >>> len(gravity)
        2
        """
        if x is None or m is None:
            raise TypeError("sources have positions x and masses m")
        x = vectors(x, "x")
        given = {"x": x, "m": m, "v": v, "acc": acc, "jerk": jerk, "snap": snap, "time": time, "eps": eps}
        sources, keep = _sources(len(x), given)
        time = _common(keep.get("time"))
        self._change(
            lambda: _library.set_sources(self._handle, len(x), _byref(sources)), lambda: (time, eps is not None)
        )

    def _change(self, call, after):
        """Changes the sources by `call`, which returns a status. `after` returns their new time, and whether they have softening lengths.

        Ctrl-C may come as the call returns. The new time is not noted then: the sources count as having several times, so forces for which
        no time is given are refused."""

        def change():
            before = self._time, self._softened
            time, softened = after()
            self._time, self._softened = time if time == before[0] else None, softened
            status = call()
            if status < 0:
                self._time, self._softened = before
                raise_for(status)
            self._time = time

        self._lock.hold(self._handle, change)

    def update(
        self, index, *, x=None, m=None, v=None, acc=None, jerk=None, snap=None, time=None, eps=None
    ):
        """Changes the sources with these indices: entry k of each array is for source `index[k]`.

        What is not given stays. If an index occurs more than once, the last entry wins.

        >>> gravity = Gravity([[0, 0, 0], [0, 0, 3]], [1.0, 9.0])
        >>> gravity.update([1], m=[18.0])
        >>> gravity.accelerations([[0, 0, 0]], source=[0])
        array([[0., 0., 2.]])
        """
        index = numbers(index, "index", None, INTEGER)
        given = {"x": x, "m": m, "v": v, "acc": acc, "jerk": jerk, "snap": snap, "time": time, "eps": eps}
        sources, keep = _sources(len(index), given)
        indices = _library.Indices()
        put_numbers(indices, "at", index)

        def after():
            now = self._time
            if time is not None and len(index):
                new = _common(keep["time"])
                of_all = len(index) >= len(self) and len(np.unique(index)) == len(self)
                now = new if of_all or new == now else None
            return now, self._softened

        self._change(
            lambda: _library.update_sources(self._handle, len(index), _byref(indices), _byref(sources)), after
        )

    def _at(self, time):
        """The time of forces: the one that is given, or that of the sources."""
        if time is not None:
            return number(time, "time")
        if self._time is None:
            raise ValueError("the sources have several times: give the time of the forces")
        return self._time

    def _eps(self, x, eps):
        """The softening of targets: the one that is given, or 0."""
        if eps is None:
            return 0.0
        if x is None and self._softened and np.ndim(eps) == 0:
            raise ValueError("the sources have softening lengths of their own: without x, one number eps would have no effect")
        return eps

    @held(again=True)
    def accelerations(self, x=None, *, eps=None, source=None, time=None, out=None):
        """Accelerations at points, (n, 3): the sum of m (xj - x) / (r^2 + eps^2)^(3/2) over the sources.

        Parameters
        ----------
        x : (n, 3), optional
            Positions. Without them, the accelerations of the sources themselves.
        eps : number or (n,), optional
            Softening lengths; 0 by default. Without `x`, sources that have some of their own use these: one number is then refused.
        source : (n,) of integers, optional
            The source that a point is, which is left out; negative for none. (A source at the very place of a point exerts no
            force on it without softening.)
        time : number, optional
            The sources are predicted to this time. Without it, they stay where they are, which is an error if they have several times.
        out : (n, 3), optional
            An array of float64 for the result.

        >>> Gravity([[0, 0, 0], [4, 0, 0]], [1, 1]).accelerations([[2, 0, 0], [0, 1, 0]], source=[-1, 1])
        array([[ 0.,  0.,  0.],
               [ 0., -1.,  0.]])
        """
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, self._eps(x, eps), source)
        acc = _arrays.results(results, "acc", (n, 3), out, keep[0])
        _pieces.forces(self._handle, self._at(time), eps2, n, targets, results)
        del keep
        return _arrays.in_place(acc, out)

    @held(again=True)
    def potentials(self, x=None, *, eps=None, source=None, time=None, out=None):
        """Potentials at points, (n,): minus the sum of m / sqrt(r^2 + eps^2) over the sources.

        The arguments are those of `accelerations`. A point at the very place of a softened source feels that source's -m / eps, unless
        `source` names it. Potentials of the sources themselves (without `x`) leave it out.

        >>> Gravity([[0, 0, 0], [4, 0, 0]], [1, 1]).potentials()
        array([-0.25, -0.25])
        """
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, self._eps(x, eps), source)
        pot = _arrays.results(results, "pot", (n,), out, keep[0])
        _pieces.forces(self._handle, self._at(time), eps2, n, targets, results)
        del keep
        return _arrays.in_place(pot, out)

    @held(again=True)
    def forces(
        self, x=None, v=None, *, eps=None, source=None, time=None, jerk=False, potential=False, nearest=False
    ):
        """Accelerations at points with what else is wanted, as `Forces`: jerks, potentials, nearest sources.

        `v` are the velocities of the points, (n, 3), for the jerk; zero by default. The other arguments are those of
        `accelerations`.

        >>> gravity = Gravity([[0, 0, 0], [4, 0, 0]], [1, 1])
        >>> forces = gravity.forces([[1, 0, 0]], [[0, 1, 0]], jerk=True, nearest=True)
        >>> forces.nearest, forces.distance
        (array([0]), array([1.]))
        """
        if x is not None:
            x = vectors(x, "x")
        elif v is not None:
            raise TypeError("velocities v without positions x")
        if v is not None:
            v = vectors(v, "v", len(x))
        if x is not None and source is None and len(x) == 1:
            eps2s, eps2 = squares(self._eps(x, eps), "eps", 1)
            eps2 = eps2 if eps2s is None else eps2s[0]
            return Forces._make(_point.forces(self._handle, x, v, eps2, self._at(time), jerk, potential, nearest))
        results = _library.Results()
        targets, n, eps2, keep = self._targets(x, self._eps(x, eps), source)
        if v is not None and jerk:
            put_vectors(targets, "v", _arrays.finite(v, "v"))
        acc = new(results, "acc", (n, 3))
        j = new(results, "jerk", (n, 3)) if jerk else None
        p = new(results, "pot", n) if potential else None
        k = new(results, "nearest", n, INTEGER) if nearest else None
        d = new(results, "distance2", n) if nearest else None
        _pieces.forces(self._handle, self._at(time), eps2, n, targets, results)
        del keep
        return Forces(acc, j, p, k, None if d is None else np.sqrt(d, out=d))

    @held(again=False)
    def neighbours(self, radius, x=None, *, source=None, time=None):
        """The sources nearer to each point than `radius`, a number or (n,): offsets and indices.

        Those of point k are `indices[offsets[k]:offsets[k + 1]]`, in ascending order, without the source that the point is.
        The other arguments are those of `accelerations`.

        >>> gravity = Gravity([[0, 0, 0], [1, 0, 0], [3, 0, 0]], 1)
        >>> gravity.neighbours(2.5)
        (array([0, 1, 3, 4]), array([1, 0, 2, 1]))
        """
        targets, n, _, keep = self._targets(x, 0.0, source)
        radii, radius2 = squares(radius, "radius", n)
        if radii is None:
            radii = np.full(n, radius2)
        put_numbers(targets, "radius2", radii)
        status = _library.forces(self._handle, self._at(time), 0.0, n, _byref(targets), None)
        if status < 0:
            raise_for(status)
        del keep
        offsets = np.empty(n + 1, INTEGER)
        status = _library.neighbour_offsets(self._handle, n, offsets.ctypes.data)
        if status < 0:
            raise_for(status)
        indices = np.empty(offsets[-1], INTEGER)
        status = _library.neighbour_indices(self._handle, len(indices), indices.ctypes.data)
        if status < 0:
            raise_for(status)
        return offsets, indices


def _sources(n, given):
    """The structure of n sources, and the arrays that must outlive the call, by name."""
    sources = _library.Sources()
    keep = {}
    for name, array in given.items():
        if array is None:
            continue
        if name in ("m", "time"):
            array = numbers(array, name, n)
            put_numbers(sources, "mass" if name == "m" else name, array)
        elif name == "eps":
            array, _ = squares(array, name, n)
            if array is None:
                raise TypeError("eps of the sources is (n,), one softening length for each: give that of all pairs to forces, accelerations or potentials")
            put_numbers(sources, "eps2", array)
        else:
            array = vectors(array, name, n)
            put_vectors(sources, name, array)
        keep[name] = array
    return sources, keep


def _common(times):
    """The time that all sources have; None if there are several."""
    if times is None or not len(times):
        return 0.0
    return float(times[0]) if (times == times[0]).all() else None


#: Those of each process that no call of `accelerations` uses at present: to open one takes longer than the forces of a hundred particles.
_spare = {}

#: Up to so many particles, which take half a megabyte.
_KEPT_UP_TO = 4096


def accelerations(x, m, eps=0.0, *, precision="double", out=None):
    """Accelerations of point masses under their own gravity, (n, 3), with G = 1.

    Parameters
    ----------
    x : (n, 3)
        Positions.
    m : (n,) or a number
        Masses, of any sign.
    eps : number or (n,)
        Softening length: of all pairs, or of each particle as a target.
    precision : str
        Double precision by default. "mixed" takes half of the time, and is exact to about 1e-7.
    out : (n, 3), optional
        An array of float64 for the result; it may be `x`.

    Returns
    -------
    The accelerations, in units of mass / length^2: multiply by G.

    Examples
    --------
    >>> import kirin
    >>> kirin.accelerations([[0, 0, 0], [2, 0, 0]], [1, 3])
    array([[ 0.75,  0.  ,  0.  ],
           [-0.25,  0.  ,  0.  ]])
    >>> kirin.accelerations([[0, 0, 0], [2, 0, float("nan")]], 1)
    Traceback (most recent call last):
        ...
    ValueError: x of particle 1 is NaN or infinite
    """
    # The child of a fork makes its own.
    spare = _spare.setdefault(os.getpid(), [])
    try:
        gravity = spare.pop()
    except IndexError:
        gravity = Gravity()
    try:
        gravity.set_precision(precision)
        gravity.set_sources(x, m)
        found = gravity.accelerations(eps=eps, out=out)
    except BaseException:
        gravity.close()
        raise
    if len(gravity) <= _KEPT_UP_TO:
        spare.append(gravity)
    else:
        gravity.close()
    return found
