"""Exceptions, and the codes of the library that they stand for."""

import re

from . import _library

# What the library calls the arguments.
_ARGUMENTS = {"mass": "m", "eps2": "eps", "radius2": "radius"}
_NAMES = re.compile(r"^mass(?= )|\b(?:eps2|radius2)\b")


class Error(Exception):
    """A refusal of kirin's that Python has no word for."""


class ClosedError(Error, ValueError):
    """The `Gravity` is closed."""


class ForkError(Error, RuntimeError):
    """The `Gravity` belongs to the process that this one was forked from."""


class OrderError(Error, RuntimeError):
    """Another call must come first."""


class UnsupportedError(Error, NotImplementedError):
    """kirin cannot do this."""


_CLASSES = {-1: ValueError, -2: OrderError, -3: UnsupportedError, -5: MemoryError}


def raise_for(status):
    """Raises the exception of a negative status, with the library's words."""
    if status == -6:
        raise Error("a signal handler called kirin while its thread was inside another call")
    words = _library.message().decode(errors="replace").split(": ", 1)[-1]
    if status == -7 and "forked" in words:
        raise ForkError("this object belongs to the process that this one was forked from: make another one here")
    if status == -7:
        raise ClosedError("this object is closed")
    raise _CLASSES.get(status, Error)(_NAMES.sub(lambda name: _ARGUMENTS[name[0]], words))
