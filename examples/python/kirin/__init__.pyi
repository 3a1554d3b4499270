from types import TracebackType
from typing import NamedTuple, Optional, Tuple, Type

import numpy as np
from numpy.typing import ArrayLike, NDArray

PRECISIONS: Tuple[str, ...]
__version__: str

class Error(Exception): ...
class ClosedError(Error, ValueError): ...
class ForkError(Error, RuntimeError): ...
class OrderError(Error, RuntimeError): ...
class UnsupportedError(Error, NotImplementedError): ...

class Forces(NamedTuple):
    acc: NDArray[np.float64]
    jerk: Optional[NDArray[np.float64]]
    pot: Optional[NDArray[np.float64]]
    nearest: Optional[NDArray[np.int64]]
    distance: Optional[NDArray[np.float64]]

class Gravity:
    def __init__(
        self,
        x: Optional[ArrayLike] = None,
        m: Optional[ArrayLike] = None,
        *,
        v: Optional[ArrayLike] = None,
        acc: Optional[ArrayLike] = None,
        jerk: Optional[ArrayLike] = None,
        snap: Optional[ArrayLike] = None,
        time: Optional[ArrayLike] = None,
        eps: Optional[ArrayLike] = None,
        precision: Optional[str] = None,
    ) -> None: ...
    def set_precision(self, precision: str) -> None: ...
    def set_sources(
        self,
        x: ArrayLike,
        m: ArrayLike,
        *,
        v: Optional[ArrayLike] = None,
        acc: Optional[ArrayLike] = None,
        jerk: Optional[ArrayLike] = None,
        snap: Optional[ArrayLike] = None,
        time: Optional[ArrayLike] = None,
        eps: Optional[ArrayLike] = None,
    ) -> None: ...
    def update(
        self,
        index: ArrayLike,
        *,
        x: Optional[ArrayLike] = None,
        m: Optional[ArrayLike] = None,
        v: Optional[ArrayLike] = None,
        acc: Optional[ArrayLike] = None,
        jerk: Optional[ArrayLike] = None,
        snap: Optional[ArrayLike] = None,
        time: Optional[ArrayLike] = None,
        eps: Optional[ArrayLike] = None,
    ) -> None: ...
    def accelerations(
        self,
        x: Optional[ArrayLike] = None,
        *,
        eps: Optional[ArrayLike] = None,
        source: Optional[ArrayLike] = None,
        time: Optional[float] = None,
        out: Optional[NDArray[np.float64]] = None,
    ) -> NDArray[np.float64]: ...
    def potentials(
        self,
        x: Optional[ArrayLike] = None,
        *,
        eps: Optional[ArrayLike] = None,
        source: Optional[ArrayLike] = None,
        time: Optional[float] = None,
        out: Optional[NDArray[np.float64]] = None,
    ) -> NDArray[np.float64]: ...
    def forces(
        self,
        x: Optional[ArrayLike] = None,
        v: Optional[ArrayLike] = None,
        *,
        eps: Optional[ArrayLike] = None,
        source: Optional[ArrayLike] = None,
        time: Optional[float] = None,
        jerk: bool = False,
        potential: bool = False,
        nearest: bool = False,
    ) -> Forces: ...
    def neighbours(
        self,
        radius: ArrayLike,
        x: Optional[ArrayLike] = None,
        *,
        source: Optional[ArrayLike] = None,
        time: Optional[float] = None,
    ) -> Tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def __len__(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Gravity: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None: ...

class Tree:
    def __init__(
        self, x: Optional[ArrayLike] = None, m: Optional[ArrayLike] = None, *, precision: Optional[str] = None
    ) -> None: ...
    def set_precision(self, precision: str) -> None: ...
    def set_sources(self, x: ArrayLike, m: ArrayLike) -> None: ...
    def accelerations(
        self,
        x: Optional[ArrayLike] = None,
        *,
        theta: float = 0.7,
        quadrupoles: bool = False,
        eps: ArrayLike = 0.0,
        source: Optional[ArrayLike] = None,
        out: Optional[NDArray[np.float64]] = None,
    ) -> NDArray[np.float64]: ...
    def potentials(
        self,
        x: Optional[ArrayLike] = None,
        *,
        theta: float = 0.7,
        quadrupoles: bool = False,
        eps: ArrayLike = 0.0,
        source: Optional[ArrayLike] = None,
        out: Optional[NDArray[np.float64]] = None,
    ) -> NDArray[np.float64]: ...
    def forces(
        self,
        x: Optional[ArrayLike] = None,
        *,
        theta: float = 0.7,
        quadrupoles: bool = False,
        eps: ArrayLike = 0.0,
        source: Optional[ArrayLike] = None,
    ) -> Forces: ...
    def __len__(self) -> int: ...
    @property
    def backend(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Tree: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None: ...

def accelerations(
    x: ArrayLike,
    m: ArrayLike,
    eps: ArrayLike = 0.0,
    *,
    precision: str = "double",
    out: Optional[NDArray[np.float64]] = None,
) -> NDArray[np.float64]: ...
def include() -> str: ...
