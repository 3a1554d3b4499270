"""Forces at one point. Its numbers are copied into arrays whose addresses are known: to find an address takes longer than to copy."""

from ctypes import byref

import numpy as np

from . import _library
from ._arrays import INTEGER, new
from ._errors import raise_for

#: Points that no call uses at present.
_spare = []


class _Point:
    """A point, its results, and the structures that point to them."""

    __slots__ = ("targets", "results", "x", "v", "acc", "jerk", "pot", "nearest", "distance2", "_places")

    def __init__(self):
        self.targets, self.results = _library.Targets(), _library.Results()
        self.x, self.v = (new(self.targets, name, (1, 3)) for name in ("x", "v"))
        self.acc, self.jerk = (new(self.results, name, (1, 3)) for name in ("acc", "jerk"))
        self.pot, self.distance2 = (new(self.results, name, 1) for name in ("pot", "distance2"))
        self.nearest = new(self.results, "nearest", 1, INTEGER)
        self._places = [getattr(self.results, name) for name in ("jerk", "pot", "nearest", "distance2")]

    def want(self, jerk, potential, nearest):
        """Chooses the results beside the acceleration."""
        results = self.results
        at_jerk, at_pot, at_nearest, at_distance2 = self._places
        results.jerk = at_jerk if jerk else None
        results.pot = at_pot if potential else None
        results.nearest = at_nearest if nearest else None
        results.distance2 = at_distance2 if nearest else None


def forces(handle, x, v, eps2, time, jerk, potential, nearest):
    """Acceleration, jerk, potential, nearest source and its distance at one point, in new arrays; None for what is not wanted."""
    try:
        point = _spare.pop()
    except IndexError:
        point = _Point()
    point.x[...] = x
    point.v[...] = 0.0 if v is None else v
    point.want(jerk, potential, nearest)
    status = _library.forces(handle, time, eps2, 1, byref(point.targets), byref(point.results))
    if status < 0:
        raise_for(status)
    found = (
        point.acc.copy(),
        point.jerk.copy() if jerk else None,
        point.pot.copy() if potential else None,
        point.nearest.copy() if nearest else None,
        np.sqrt(point.distance2) if nearest else None,
    )
    _spare.append(point)
    return found
