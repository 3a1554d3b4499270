"""Gravity of N point masses by direct summation, on the vector units of CPUs and on NVIDIA GPUs.

>>> import numpy as np, kirin
>>> x = np.random.default_rng(1).normal(size=(1000, 3))
>>> kirin.accelerations(x, m=1e-3, eps=0.01).shape
(1000, 3)

`accelerations` is for arrays of particles; `Gravity` keeps the sources, for updates, predictions, jerks, potentials,
neighbours and points that are no sources; `Tree` approximates the forces of many sources by a tree. Units are any with G = 1.
"""

from . import _library
from ._errors import ClosedError, Error, ForkError, OrderError, UnsupportedError
from ._gravity import Forces, Gravity, accelerations
from ._handle import PRECISIONS
from ._tree import Tree

__all__ = [
    "PRECISIONS", "ClosedError", "Error", "ForkError", "Forces", "Gravity", "OrderError", "Tree",
    "UnsupportedError", "accelerations", "include",
]

__version__ = _library.version().decode().split()[-1]


def include():
    """The folder with the C headers and Fortran modules of the library.

    >>> import os, kirin
    >>> sorted(name for name in os.listdir(kirin.include()) if name.endswith(".h"))
    ['g5nbutil.h', 'g5util.h', 'gp5util.h', 'grape6.h', 'kirin.h', 'kirin_grape5.h', 'kirin_nbody6.h', 'kirin_sapporo.h']
    """
    import os

    return os.path.join(os.path.dirname(__file__), "include")
