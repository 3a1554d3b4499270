"""Exceptions, and the codes of the library that they stand for."""

from . import _library


class Error(Exception):
    """A refusal of kirin's."""


class ClosedError(Error, ValueError):
    """The `Gravity` is closed."""


class ForkError(Error, RuntimeError):
    """The `Gravity` belongs to the process that this one was forked from."""


class OrderError(Error, RuntimeError):
    """Another call must come first."""


class UnsupportedError(Error, NotImplementedError):
    """kirin cannot do this."""


_CLASSES = {-1: ValueError, -2: OrderError, -3: UnsupportedError, -5: MemoryError, -6: Error, -7: ClosedError}


def raise_for(status):
    """Raises the exception of a negative status, with the library's words."""
    words = _library.message().decode(errors="replace")
    words = words.split(": ", 1)[-1]
    if status == -7 and "forked" in words:
        raise ForkError("this Gravity belongs to the process that this one was forked from: make another one here")
    if status == -7:
        raise ClosedError("this Gravity is closed")
    raise _CLASSES.get(status, Error)(words)
