"""The shared library: its structures and calls (docs/bulk.md)."""

import ctypes
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_void_p

_NAME = "libkirin.dylib" if sys.platform == "darwin" else "libkirin.so.0"
PATH = os.path.join(os.path.dirname(__file__), "lib", _NAME)


def _vectors(*names):
    kinds = (("", c_void_p), ("_step", c_int64), ("_next", c_int64))
    return [(name + part, kind) for name in names for part, kind in kinds]


def _numbers(*names):
    kinds = (("", c_void_p), ("_step", c_int64))
    return [(name + part, kind) for name in names for part, kind in kinds]


_RESERVED = [("reserved", c_void_p * 4)]


class Sources(ctypes.Structure):
    """kirin_sources"""

    _fields_ = (
        _numbers("mass") + _vectors("x", "v", "acc", "jerk", "snap") + _numbers("time", "eps2") + _RESERVED
    )


class Targets(ctypes.Structure):
    """kirin_targets"""

    _fields_ = _vectors("x", "v") + _numbers("eps2", "radius2", "source") + _RESERVED
    #: The arrays, and the bytes of an entry where the numbers lie together.
    ARRAYS = (("x", 24), ("v", 24), ("eps2", 8), ("radius2", 8), ("source", 8))


class Results(ctypes.Structure):
    """kirin_results"""

    _fields_ = _vectors("acc", "jerk") + _numbers("pot", "nearest", "distance2") + _RESERVED
    ARRAYS = (("acc", 24), ("jerk", 24), ("pot", 8), ("nearest", 8), ("distance2", 8))


class Indices(ctypes.Structure):
    """kirin_indices"""

    _fields_ = _numbers("at")


# CDLL releases the interpreter's lock during a call.
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
update_sources = _call("kirin_bulk_update_sources", c_int, c_int64, c_int64, POINTER(Indices), POINTER(Sources))
source_count = _call("kirin_bulk_source_count", c_int, c_int64)
forces = _call(
    "kirin_bulk_forces", c_int, c_int64, c_double, c_double, c_int64, POINTER(Targets), POINTER(Results)
)
neighbour_offsets = _call("kirin_bulk_neighbour_offsets", c_int, c_int64, c_int64, c_void_p)
neighbour_indices = _call("kirin_bulk_neighbour_indices", c_int, c_int64, c_int64, c_void_p)
tree_open = _call("kirin_tree_open", c_int, POINTER(c_int64))
tree_set_sources = _call("kirin_tree_set_sources", c_int, c_int64, c_int64, POINTER(Sources))
tree_forces = _call(
    "kirin_tree_forces", c_int, c_int64, c_double, c_int, c_double, c_int64, POINTER(Targets), POINTER(Results)
)
message = _call("kirin_bulk_message", c_char_p)
backend = _call("kirin_bulk_backend", c_char_p, c_int64)
precision = _call("kirin_bulk_precision", c_char_p, c_int64)
version = _call("kirin_version", c_char_p)
