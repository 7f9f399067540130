"""Floor 2: files of large tables: a header that says what they are, written wholly or not at all.

A file is a header of 4,096 bytes (a line that names the kind of file, a line of JSON, spaces, a
line feed) and its tables in rows, little-endian.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.files import beside

FORMAT = 1
_LONGEST_NAME = 200  # of the 255 that file systems allow, so that others fit beside it
_HEADER = 4096  # bytes, so that the tables begin on a page


def as_path(name: str, value: Any) -> Path:
    """A file's path from text or an object that stands for one; absolute, links followed.

    Raises:
        ValueError: It is none.
    """
    try:
        text = os.fspath(value)
    except TypeError:
        text = None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError(f"{name} must be the path of a file, got {value!r}")
    try:
        return Path(text).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # links that go round, an unknown home
        raise ValueError(f"{name} must be the path of a file, got {value!r} ({error})") from error


def require_target(name: str, path: Path) -> None:
    """Refuse a path that no file can be written to, before the work for it is done.

    Raises:
        ValueError: Its folder does not exist or cannot be written, or it is no regular file.
    """
    if len(os.fsencode(path.name)) > _LONGEST_NAME:
        raise ValueError(f"{name} must have a name of at most {_LONGEST_NAME} bytes")
    partial = beside(path)
    try:
        if not path.parent.is_dir():
            raise ValueError(f"{name} must be in a folder that exists, got {str(path)!r}")
        if path.exists() and not path.is_file():
            raise ValueError(f"{name} must be a regular file, got {str(path)!r}")
        partial.touch(exist_ok=False)
        partial.unlink()
    except OSError as error:
        raise _cannot("write", path, error) from error


def require_new_target(name: str, path: Path) -> None:
    """Refuse a path that is there already, or that no file can be written to.

    Raises:
        ValueError: It is, or see `require_target`.
    """
    require_target(name, path)
    if path.exists():
        raise ValueError(f"{name}: {str(path)!r} is there already; choose another name")


def write_tables(
    path: Path, kind: str, header: dict[str, Any], tables: Sequence[NDArray[Any]]
) -> None:
    """Write a file beside its place, and move it there when it is whole.

    Args:
        path: Where to; a file that is there is replaced.
        kind: The first line.
        header: What JSON can hold; version, format and checksum are added.
        tables: Contiguous.

    Raises:
        ValueError: It cannot be written; what was there is still there.
    """
    made_by = {"version": metadata.version("ludo_env"), "format": FORMAT}
    full = {**made_by, **header, "crc32": _checksum(tables)}
    text = f"{kind}\n{json.dumps(full)}\n".encode()
    partial = beside(path)
    try:
        with partial.open("xb") as file:
            file.write(text.ljust(_HEADER - 1) + b"\n")
            for table in tables:
                file.write(_bytes(table))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise _cannot("write", path, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def read_header(path: Path, kind: str) -> dict[str, Any]:
    """The header of a file.

    Raises:
        ValueError: There is no such file, it is of another kind, of another format, or damaged.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_HEADER)
    except OSError as error:
        raise _cannot("read", path, error) from error
    first, _, rest = content.partition(b"\n")
    if first != kind.encode():
        raise ValueError(f"{str(path)!r} is no file of a {kind}")
    try:
        header = json.loads(rest)
    except ValueError as error:
        raise _damaged(path, "its header cannot be read") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{str(path)!r} has a format that this version cannot read")
    return header


def map_table(
    path: Path, header: dict[str, Any], dtype: np.dtype[Any], shape: tuple[int, int]
) -> NDArray[Any]:
    """The only table of a file, left on disk and read where it is looked at.

    Raises:
        ValueError: The file is damaged.
    """
    _require_size(path, dtype.itemsize * shape[0] * shape[1])
    table = np.memmap(path, dtype=dtype, mode="r", offset=_HEADER, shape=shape)
    _require_checksum(path, header, [table])
    return table


def read_tables(path: Path, header: dict[str, Any], tables: Sequence[NDArray[Any]]) -> None:
    """Read a file's tables; in place.

    Raises:
        ValueError: The file is damaged.
    """
    _require_size(path, sum(table.nbytes for table in tables))
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(_HEADER)
            for table in tables:
                _fill(file, _bytes(table))
    except OSError as error:
        raise _cannot("read", path, error) from error
    _require_checksum(path, header, tables)


def _fill(file: Any, content: memoryview) -> None:
    """Read until the memory is full; a single read may stop at 2 GB."""
    done = 0
    while done < len(content):
        read = file.readinto(content[done:])
        if not read:
            raise OSError("the file ends too early")
        done += read


def _bytes(table: NDArray[Any]) -> memoryview:
    return memoryview(table.reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def _checksum(tables: Sequence[NDArray[Any]]) -> int:
    checksum = 0
    for table in tables:
        checksum = zlib.crc32(_bytes(table), checksum)
    return checksum


def _require_checksum(path: Path, header: dict[str, Any], tables: Sequence[NDArray[Any]]) -> None:
    if header.get("crc32") != _checksum(tables):
        raise _damaged(path, "its checksum does not fit")


def _require_size(path: Path, size: int) -> None:
    found = path.stat().st_size - _HEADER
    if found != size:
        raise _damaged(path, f"{max(0, found):,} bytes of tables, {size:,} expected")


def _damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{str(path)!r} is damaged: {why}")


def _cannot(do: str, path: Path, error: OSError) -> ValueError:
    return ValueError(f"cannot {do} {str(path)!r}: {error.strerror or error}")
