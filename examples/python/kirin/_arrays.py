"""numpy arrays as the library takes them: without a copy where they are of double precision."""

import ctypes

import numpy as np

DOUBLE = np.dtype(np.float64)
INTEGER = np.dtype(np.int64)


#: How packages write the unit of a number without one: astropy, unyt and pint, and pynbody's two.
_NO_UNIT = ("", "1", "dimensionless", "NoUnit()", "1.00e+00")


def _check_unit(value, name):
    """Refuses what has a unit: of astropy and AMUSE (`unit`), of pynbody, unyt, pint and xarray (`units`); in lists, too."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    for attribute in ("unit", "units"):
        unit = getattr(value, attribute, None)
        if unit is not None and str(unit) not in _NO_UNIT:
            raise TypeError(f"{name} has a unit ({unit}), which would be lost: pass its value, in units with G = 1")


def _converted(array, name, dtype):
    """What numpy makes an array of double precision, or of integers, without loss of a mask or a unit."""
    if np.ma.is_masked(array):
        raise TypeError(f"{name} is masked in places: its mask would be lost")
    _check_unit(array, name)
    try:
        found = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} is no array of one shape: {error}") from None
    integers = dtype is INTEGER
    if found.size and found.dtype.kind not in ("iu" if integers else "iuf"):
        wanted = "integers" if integers else "real numbers"
        raise TypeError(f"{name} has the type {found.dtype}, but {wanted} are needed")
    if found.dtype.kind == "u" and integers and found.size and found.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} has an integer beyond those of 64 bits")
    return found.astype(dtype, copy=False)


def _with_steps(array):
    """The array, or a copy where a step is zero, which means a packed array to the library."""
    return array if array.flags.c_contiguous or 0 not in array.strides else array.copy()


def vectors(array, name, n=None):
    """An array of the shape (n, 3)."""
    if type(array) is not np.ndarray or array.dtype != DOUBLE:
        array = _converted(array, name, DOUBLE)
    if array.ndim != 2 or array.shape[1] != 3 or n is not None and array.shape[0] != n:
        wanted = "(n, 3)" if n is None else (n, 3)
        raise ValueError(f"{name} has the shape {array.shape}, but {wanted} is needed")
    return _with_steps(array)


def numbers(array, name, n=None, dtype=DOUBLE):
    """An array of the shape (n,); one number stands for an array of it, where n is known."""
    if type(array) is not np.ndarray or array.dtype != dtype:
        array = _converted(array, name, dtype)
    if array.ndim == 0 and n is not None:
        return np.full(n, array)
    if array.ndim != 1 or n is not None and array.shape[0] != n:
        wanted = "(n,)" if n is None else (n,)
        raise ValueError(f"{name} has the shape {array.shape}, but {wanted} is needed")
    return _with_steps(array)


def finite(array, name):
    """The vectors, if all of them are finite."""
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise ValueError(f"{name} of particle {int(np.argmax(bad))} is NaN or infinite")
    return array


def number(value, name):
    """One number."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is a text, but a number is needed")
    _check_unit(value, name)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} has the type {type(value).__name__}, but a number is needed") from None
    except OverflowError:
        raise ValueError(f"{name} is beyond the numbers of double precision") from None


def squares(array, name, n):
    """The squares of lengths, as numbers: one of each, or None and one of all."""
    if getattr(array, "ndim", None) == 0:
        array = float(_converted(array, name, DOUBLE))
    if isinstance(array, (float, int)):
        length = number(array, name)
        if length < 0.0:
            raise ValueError(f"{name} is negative")
        if np.isfinite(length) and not np.isfinite(length * length):
            raise ValueError(f"{name} is too large: its square is beyond the numbers of double precision")
        return None, length * length
    array = numbers(array, name, n)
    if (array < 0.0).any():
        raise ValueError(f"{name} of particle {int(np.argmax(array < 0.0))} is negative")
    with np.errstate(over="ignore"):
        squared = array * array
    too_large = np.isfinite(array) & ~np.isfinite(squared)
    if too_large.any():
        raise ValueError(f"{name} of particle {int(np.argmax(too_large))} is too large: its square is beyond the numbers of double precision")
    return squared, 0.0


def writable(array, shape):
    """The array that is given for results."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray) or array.dtype != DOUBLE:
        raise TypeError("out must be a numpy array of float64")
    _check_unit(array, "out")
    if array.shape != shape:
        raise ValueError(f"out has the shape {array.shape}, but {shape} is needed")
    if not array.flags.writeable or (0 in array.strides and array.size > 1):
        raise ValueError("out cannot be written")
    return array


_START = ctypes.c_char * 0


def address(array):
    """Where the numbers of an array begin. (The property ctypes.data takes three times as long, but knows arrays with steps and those that
    cannot be written, too.)"""
    flags = array.flags
    if flags.c_contiguous and flags.writeable:
        return ctypes.addressof(_START.from_buffer(array))
    return array.ctypes.data


def new(structure, name, shape, dtype=DOUBLE):
    """A new array for results, to which a structure points."""
    array = np.empty(shape, dtype)
    setattr(structure, name, address(array))
    return array


def put_vectors(structure, name, array):
    """Has a structure point to vectors."""
    setattr(structure, name, address(array))
    if not array.flags.c_contiguous:
        step, following = array.strides
        setattr(structure, name + "_step", step)
        setattr(structure, name + "_next", following)


def put_numbers(structure, name, array):
    """Has a structure point to numbers."""
    setattr(structure, name, address(array))
    if not array.flags.c_contiguous:
        setattr(structure, name + "_step", array.strides[0])


def results(structure, name, shape, out, x):
    """The array for results, to which a structure points: the one that is given, or a new one. Results of some targets
    are written before the next ones are read, so that an array that overlaps the positions gets them later."""
    if out is None:
        return new(structure, name, shape)
    writable(out, shape)
    if x is not None and out is not x and np.may_share_memory(out, x):
        return new(structure, name, shape)
    (put_vectors if len(shape) == 2 else put_numbers)(structure, name, out)
    return out


def in_place(found, out):
    """What was found, where it was wanted."""
    if out is None or found is out:
        return found
    out[...] = found
    return out
