"""What `Gravity` and `Tree` share: a handle of the library, and the targets of a call."""

import ctypes
import functools

from . import _library
from ._arrays import INTEGER, numbers, put_numbers, put_vectors, squares, vectors
from ._errors import raise_for
from ._pieces import Lock

#: The precisions, at their numbers.
PRECISIONS = ("auto", "mixed", "double", "single", "adaptive", "double-single", "reduced")


def held(again):
    """A method during which no other thread changes the sources: what it reads of them holds for its forces, too. `again` lets a signal
    handler call it while its thread is in another method."""

    def of(method):
        @functools.wraps(method)
        def holding(self, *arguments, **named):
            return self._lock.hold(self._handle, lambda: method(self, *arguments, **named), again)

        return holding

    return of


class Handle:
    """An open handle of the library."""

    # `_lock` is held while the sources change, and while forces are computed.
    __slots__ = ("_handle", "_lock", "__weakref__")

    def __new__(cls, *_, **__):
        self = super().__new__(cls)
        # Also where __init__ is never reached, as after an argument with another name.
        self._handle = 0
        self._lock = Lock()
        return self

    def _open(self):
        """Opens a handle; one that was open is closed."""
        self.close()
        handle = ctypes.c_int64()
        status = self._opens(ctypes.byref(handle))
        if status < 0:
            raise_for(status)
        self._handle = handle.value

    def set_precision(self, precision):
        """Chooses the precision by its name, from the next forces on.

        >>> import kirin
        >>> gravity = kirin.Gravity([[0, 0, 0]], 1)
        >>> gravity.set_precision("exact")
        Traceback (most recent call last):
            ...
        ValueError: precision 'exact' is none of auto, mixed, double, single, adaptive, double-single, reduced
        """
        if precision not in PRECISIONS:
            raise ValueError(f"precision {precision!r} is none of {', '.join(PRECISIONS)}")
        status = _library.set_precision(self._handle, PRECISIONS.index(precision))
        if status < 0:
            raise_for(status)

    def _targets(self, x, eps, source):
        """The structure of some targets, their number, the square of the softening length of all, and what must outlive
        the call."""
        targets = _library.Targets()
        if x is not None:
            x = vectors(x, "x")
            n = len(x)
            put_vectors(targets, "x", x)
            if source is not None:
                source = numbers(source, "source", n, INTEGER)
                put_numbers(targets, "source", source)
        elif source is not None:
            source = numbers(source, "source", None, INTEGER)
            n = len(source)
            put_numbers(targets, "source", source)
        else:
            n = len(self)
        eps2s, eps2 = squares(eps, "eps", n)
        if eps2s is not None:
            put_numbers(targets, "eps2", eps2s)
        return targets, n, eps2, (x, source, eps2s)

    def __len__(self):
        count = _library.source_count(self._handle)
        if count < 0:
            raise_for(count)
        return count

    @property
    def backend(self):
        """What computes the forces: such as "cpu avx512"; empty once closed."""
        return _library.backend(self._handle).decode()

    @property
    def precision(self):
        """The precision of the last forces; before them, the one that was chosen. Empty once closed."""
        return _library.precision(self._handle).decode()

    @property
    def closed(self):
        """Whether it is closed."""
        return self._handle == 0

    def close(self):
        """Frees the memory of the sources. Closing again does nothing."""
        handle, self._handle = self._handle, 0
        if handle:
            _library.close(handle)

    def __enter__(self):
        if self.closed:
            raise_for(_library.source_count(0))
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def __repr__(self):
        count = _library.source_count(self._handle)
        state = f"{count} sources" if count >= 0 else "closed"
        return f"<kirin.{type(self).__name__}: {state}>"

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled: make one in the other process")
