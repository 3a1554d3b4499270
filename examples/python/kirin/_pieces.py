"""Forces in pieces. Python looks for signals between two calls of the library, so a call that takes minutes would keep Ctrl-C waiting as
long."""

import threading
import time
from ctypes import byref

import numpy as np

from . import _library
from ._arrays import INTEGER, put_numbers
from ._errors import raise_for

#: Pairs that a call computes first, a second or less on most machines; fewer pairs are one call.
FIRST = 2_000_000_000

#: A piece that takes less, in seconds, is followed by one with twice as many targets.
SHORT = 0.25


def forces(handle, now, eps2, n, targets, results):
    """Computes the forces on n targets: in Python's main thread, which alone hears of Ctrl-C, in pieces if there are many pairs. Each
    target has the bits that one call gives it."""
    step = FIRST // max(_library.source_count(handle), 1) + 1
    if n <= step or threading.current_thread() is not threading.main_thread():
        status = _library.forces(handle, now, eps2, n, byref(targets), byref(results))
        if status < 0:
            raise_for(status)
        return
    _in_pieces(handle, now, eps2, n, targets, results, step)


def _in_pieces(handle, now, eps2, n, targets, results, step):
    # What is refused is refused before results are written.
    status = _library.forces(handle, now, eps2, n, byref(targets), None)
    first = 0
    while status >= 0 and first < n:
        some = min(step, n - first)
        piece = _from(targets, first)
        if not (piece.x or piece.source):
            own = np.arange(first, first + some, dtype=INTEGER)
            put_numbers(piece, "source", own)
        began = time.perf_counter()
        status = _library.forces(handle, now, eps2, some, byref(piece), byref(_from(results, first)))
        first += some
        if time.perf_counter() - began < SHORT:
            step *= 2
    if status < 0:
        raise_for(status)


def _from(structure, first):
    """The structure whose arrays begin at the entry `first`."""
    moved = type(structure).from_buffer_copy(structure)
    for name, packed in structure.ARRAYS:
        at = getattr(structure, name)
        if at:
            setattr(moved, name, at + first * (getattr(structure, name + "_step") or packed))
    return moved


class Lock:
    """Held while forces are computed, and while sources change."""

    __slots__ = ("_lock", "_holder")

    def __init__(self):
        self._lock, self._holder = threading.Lock(), None

    def hold(self, handle, call, again=False):
        """What `call` returns, with the lock held. An error says why the handle cannot be used where that is so. `again` allows a call
        inside another one of the same thread."""
        me = threading.get_ident()
        if self._lock.locked():
            if self._holder == me:
                # A signal handler, in the middle of a call of its thread.
                if again:
                    return call()
                raise_for(-6)
            # In the child of a fork nobody would release it.
            status = _library.source_count(handle)
            if status < 0:
                raise_for(status)
        # The interpreter itself takes and releases it, so that no Ctrl-C comes between that and the `with`.
        with self._lock:
            self._holder = me
            try:
                return call()
            finally:
                self._holder = None
