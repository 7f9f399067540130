"""A game as a moving picture (GIF); needs pygame and Pillow, and no display."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ludo_env.core.game import Game, Moved
from ludo_env.core.position import Position
from ludo_env.core.record import Record
from ludo_env.core.rules import Rules
from ludo_env.render.drawing import NOTHING, Extras, LastMove
from ludo_env.render.image import board_image

try:
    from PIL import Image
except ImportError as error:
    raise ImportError("moving pictures need Pillow: pip install 'ludo_env[render]'") from error

_COLOURS = 64
_SAMPLES = 8
"""Pictures that the colours are chosen from."""
_LAST_STAYS = 4
"""How many times longer than the others the last picture stays."""


class Frame(NamedTuple):
    """A picture of a game: a position, and what is shown besides."""

    position: Position
    extras: Extras


def frames_of(record: Record) -> Iterator[Frame]:
    """A game's decisions, each with the move that led to it, and where it stands at last.

    Raises:
        ValueError: The record does not follow the rules.
    """
    replay, last = record.replay(), None
    for step in replay.steps:
        moves = Game(record.rules, position=step.position, seed=0).legal_moves()
        yield Frame(step.position, Extras(legal=tuple(move.source for move in moves), last=last))
        moved = next(event for event in step.events if isinstance(event, Moved))
        last = LastMove.of(moved.player, moved.move)
    yield Frame(replay.end, NOTHING if last is None else Extras(last=last))


def board_gif(frames: Sequence[Frame], rules: Rules, size: int, seconds: float) -> bytes:
    """Pictures one after another, over and over.

    Args:
        frames: At least one.
        rules: The rules.
        size: Width and height in pixels.
        seconds: How long each stays; the last stays longer.

    Raises:
        ValueError: A position is impossible under the rules.
    """

    def drawn(frame: Frame) -> Image.Image:
        return Image.fromarray(board_image(frame.position, rules, frame.extras, size))

    some = np.unique(np.linspace(0, len(frames) - 1, _SAMPLES).astype(int))
    palette = _palette([drawn(frames[k]) for k in some])
    coded = (drawn(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    stay = round(1000 * seconds)
    file = io.BytesIO()
    next(coded).save(
        file,
        format="GIF",
        save_all=True,
        append_images=coded,
        duration=[stay] * (len(frames) - 1) + [_LAST_STAYS * stay],
        loop=0,
        optimize=True,
    )
    return file.getvalue()


def _palette(pictures: Sequence[Image.Image]) -> Image.Image:
    """One set of colours that serves all pictures, so that only what moves is written."""
    side = pictures[0].width
    together = Image.new("RGB", (side, side * len(pictures)))
    for number, picture in enumerate(pictures):
        together.paste(picture, (0, side * number))
    return together.quantize(_COLOURS)
