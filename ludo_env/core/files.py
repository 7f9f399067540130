"""Files that are written wholly or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, and move it there when it is whole; links are followed.

    Raises:
        ValueError: It cannot be written; what was there is still there.
    """
    partial = beside(path)
    try:
        target = path.resolve()
        partial = beside(target)
        partial.write_bytes(content)
        partial.replace(target)
    except (OSError, RuntimeError) as error:  # links that go round
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"{str(path)!r} cannot be written: {why}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def beside(path: Path) -> Path:
    """A name of its own in a file's folder."""
    return path.with_name(f".{path.name}.{uuid4().hex}")
