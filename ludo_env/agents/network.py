"""Networks that tell players' chances, and their files: numpy's ``.npz``, read without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.features import NUM_FEATURES
from ludo_env.core.network import Arrays
from ludo_env.core.rules import MAX_PLAYERS
from ludo_env.core.vectors import LAYER_COLUMNS, SUM_COLUMNS

NAMES = ("table", "bias", "hidden", "hidden_bias", "output", "output_bias")
"""The arrays of a network, in the order in which kernels take them."""

_ABOUT = "about"
_GREATEST = 1e6  # so that no sum of products overflows


@dataclass(frozen=True)
class Network:
    """A network of `ludo_env.core.network`.

    Args:
        arrays: float32, in the order of `NAMES`: (F, H), (H,), (H, K), (K,), (K, 4), (4,).
        about: What is known of it, as JSON can hold it: how it was made, what it reached.

    Raises:
        ValueError: The arrays do not fit together or hold other than finite numbers.
    """

    arrays: Arrays
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        arrays = tuple(np.ascontiguousarray(array, dtype=np.float32) for array in self.arrays)
        object.__setattr__(self, "arrays", arrays)
        if len(arrays) != len(NAMES) or arrays[0].ndim != 2 or arrays[3].ndim != 1:
            raise ValueError(f"a network has the arrays {', '.join(NAMES)}")
        first, hidden = arrays[0].shape[1], len(arrays[3])
        if min(first, hidden) < 1 or first % SUM_COLUMNS or hidden % LAYER_COLUMNS:
            raise ValueError(
                f"a network's layers must be multiples of {SUM_COLUMNS} and {LAYER_COLUMNS} wide, "
                f"got {first} and {hidden}"
            )
        for name, array, shape in zip(NAMES, arrays, _shapes(first, hidden), strict=True):
            if array.shape != shape:
                raise ValueError(f"a network's {name} must be {shape}, got {array.shape}")
            if not (np.abs(array) <= _GREATEST).all():
                raise ValueError(f"a network's {name} must be finite, {_GREATEST:g} at most")

    def leaf(self, num_players: int) -> Arrays:
        """See `ludo_env.agents.chances.Evaluation`: the same for all numbers of players."""
        return self.arrays

    def save(self, path: str | Path) -> None:
        """Write a file, whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        path = Path(path)
        partial = path.with_name(path.name + ".partial")
        content: dict[str, Any] = dict(zip(NAMES, self.arrays, strict=True))
        content[_ABOUT] = np.array(json.dumps(self.about))
        with partial.open("wb") as file:
            np.savez_compressed(file, **content)
        os.replace(partial, path)

    @classmethod
    def load(cls, file: str | Path | IO[bytes]) -> Network:
        """Read a file that `save` wrote.

        Raises:
            ValueError: It is missing or is none.
        """
        name = repr(str(file)) if isinstance(file, str | Path) else "the file"
        if isinstance(file, str | Path) and not Path(file).exists():
            raise ValueError(f"no network file {name}")
        try:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no .npz archive")
            with np.load(file, allow_pickle=False) as content:
                arrays = tuple(_array(content[name]) for name in NAMES)
                about = json.loads(str(content[_ABOUT]))
            if not isinstance(about, dict):
                raise ValueError(f"about is {about!r}")
            return cls(arrays, about)
        except Exception as error:  # whatever a damaged archive provokes
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(f"{name} is no network that can be read ({reason})") from error


def _shapes(first: int, hidden: int) -> tuple[tuple[int, ...], ...]:
    corners = MAX_PLAYERS
    return (
        (NUM_FEATURES, first),
        (first,),
        (first, hidden),
        (hidden,),
        (hidden, corners),
        (corners,),
    )


def _array(array: Any) -> NDArray[np.float32]:
    if array.dtype != np.float32:
        raise ValueError(f"arrays must be float32, got {array.dtype}")
    return array
