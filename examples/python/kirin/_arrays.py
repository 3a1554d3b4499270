"""numpy arrays as the library takes them: without a copy where they are of double precision."""

import numpy as np

DOUBLE = np.dtype(np.float64)
INTEGER = np.dtype(np.int64)


def _converted(array, name, dtype):
    try:
        found = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} is no array of one shape: {error}") from None
    kinds = "iub" if dtype is INTEGER else "iubf"
    if found.dtype.kind not in kinds:
        wanted = "integers" if dtype is INTEGER else "real numbers"
        raise TypeError(f"{name} has the type {found.dtype}, but {wanted} are needed")
    if dtype is INTEGER and found.dtype.kind == "u" and found.size and found.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} has an integer beyond those of 64 bits")
    return found.astype(dtype)


def vectors(array, name, n=None):
    """An array of the shape (n, 3)."""
    if type(array) is not np.ndarray or array.dtype != DOUBLE:
        array = _converted(array, name, DOUBLE)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} has the shape {array.shape}, but (n, 3) is needed")
    if n is not None and array.shape[0] != n:
        raise ValueError(f"{name} has {array.shape[0]} entries, but {n} are needed")
    # A step of zero means a packed array to the library.
    return array if array.flags.c_contiguous or 0 not in array.strides else array.copy()


def numbers(array, name, n, dtype=DOUBLE):
    """An array of the shape (n,); one number stands for an array of it."""
    if type(array) is not np.ndarray or array.dtype != dtype:
        array = _converted(array, name, dtype)
    if array.ndim == 0:
        return np.full(n, array)
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}, but (n,) is needed")
    if n is not None and array.shape[0] != n:
        raise ValueError(f"{name} has {array.shape[0]} entries, but {n} are needed")
    return array if array.flags.c_contiguous or 0 not in array.strides else array.copy()


def out(array, shape, name="out"):
    """A new array for results, or the one that is given."""
    if array is None:
        return np.empty(shape)
    if type(array) is not np.ndarray or array.dtype != DOUBLE:
        raise TypeError(f"{name} must be a numpy array of float64")
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, but {shape} is needed")
    if not array.flags.writeable or (0 in array.strides and array.size > 1):
        raise ValueError(f"{name} cannot be written")
    return array


def three(array):
    """Address and steps of vectors."""
    if array is None:
        return None, 0, 0
    if array.flags.c_contiguous:
        return array.__array_interface__["data"][0], 0, 0
    step, following = array.strides
    return array.__array_interface__["data"][0], step, following


def one(array):
    """Address and step of numbers."""
    if array is None:
        return None, 0
    if array.flags.c_contiguous:
        return array.__array_interface__["data"][0], 0
    return array.__array_interface__["data"][0], array.strides[0]
