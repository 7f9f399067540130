"""How kernels are compiled: one decorator, cached on disk where a disk can be written."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


_CORE = Path(__file__).parent
_STAMP = _digest(*sorted(_CORE.glob("*.py")))


@functools.cache
def _source_stamp(file: str) -> str:
    """What a kernel depends on: the whole core, since any of it may be called, and its own file."""
    own = Path(file)
    return _STAMP if own.parent == _CORE else _STAMP + _digest(own)


def compiled(function: Function) -> Function:
    """Compile a kernel on its first call; run it as it stands under ``NUMBA_DISABLE_JIT=1``.

    The machine code is kept in numba's on-disk cache and found stale when any file of the core or
    the kernel's own changes (numba alone looks at the latter only). Where no cache folder can be
    written, the kernel is compiled anew in each process.
    """
    if numba.config.DISABLE_JIT:
        return function
    kernel = numba.njit(nogil=True, forceinline=True)(function)
    try:
        kernel.enable_caching()
        cache_file = kernel._cache._cache_file
    except (RuntimeError, AttributeError):  # no folder can be written, or numba has changed
        return numba.njit(nogil=True, forceinline=True)(function)
    cache_file._source_stamp = _source_stamp(function.__code__.co_filename)
    return kernel
