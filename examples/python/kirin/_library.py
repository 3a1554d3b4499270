"""The shared library: where it is, its structures and calls (docs/bulk.md)."""

import ctypes
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_void_p

_NAME = "libkirin.dylib" if sys.platform == "darwin" else "libkirin.so"
#: The file of the library: KIRIN_LIBRARY, or the one of this package.
PATH = os.environ.get("KIRIN_LIBRARY") or os.path.join(os.path.dirname(__file__), _NAME)


def _vector(name):
    return [(name, c_void_p), (name + "_step", c_int64), (name + "_next", c_int64)]


def _number(name):
    return [(name, c_void_p), (name + "_step", c_int64)]


_RESERVED = [("reserved", c_void_p * 4)]


class Sources(ctypes.Structure):
    """kirin_sources"""

    _fields_ = (
        _number("mass") + _vector("x") + _vector("v") + _vector("acc") + _vector("jerk") + _vector("snap")
        + _number("time") + _number("eps2") + _RESERVED
    )


class Targets(ctypes.Structure):
    """kirin_targets"""

    _fields_ = (
        _vector("x") + _vector("v") + _number("eps2") + _number("radius2") + _number("source") + _RESERVED
    )


class Results(ctypes.Structure):
    """kirin_results"""

    _fields_ = (
        _vector("acc") + _vector("jerk") + _number("pot") + _number("nearest") + _number("distance2")
        + _RESERVED
    )


class Indices(ctypes.Structure):
    """kirin_indices"""

    _fields_ = _number("at")


_library = ctypes.CDLL(PATH)


def _call(name, result, *arguments):
    function = getattr(_library, name)
    function.restype = result
    function.argtypes = arguments
    return function


open_ = _call("kirin_bulk_open", c_int, POINTER(c_int64))
close = _call("kirin_bulk_close", c_int, c_int64)
set_precision = _call("kirin_bulk_set_precision", c_int, c_int64, c_int)
set_sources = _call("kirin_bulk_set_sources", c_int, c_int64, c_int64, POINTER(Sources))
update_sources = _call(
    "kirin_bulk_update_sources", c_int, c_int64, c_int64, POINTER(Indices), POINTER(Sources)
)
forces = _call(
    "kirin_bulk_forces", c_int, c_int64, c_double, c_double, c_int64, POINTER(Targets), POINTER(Results)
)
neighbour_offsets = _call("kirin_bulk_neighbour_offsets", c_int, c_int64, c_int64, c_void_p)
neighbour_indices = _call("kirin_bulk_neighbour_indices", c_int, c_int64, c_int64, c_void_p)
message = _call("kirin_bulk_message", c_char_p)
backend = _call("kirin_bulk_backend", c_char_p, c_int64)
precision = _call("kirin_bulk_precision", c_char_p, c_int64)
version = _call("kirin_version", c_char_p)
