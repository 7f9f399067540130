"""Arguments that all environments share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from gymnasium import spaces

from ludo_env.core.checks import positive
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.position import Position, as_position
from ludo_env.core.rules import Rules, as_rules
from ludo_env.rewards import Reward, as_reward

RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FRAMES = 4
"""Positions a second that a window shows."""
SHARED = ("rules", "reward", "auto_forced", "max_rolls", "render_mode", "render_size")
"""Arguments that all environments take, beside the fields of `Rules`."""
LEARNERS = ("opponents", "seat", "illegal_action")
"""Arguments that environments with a learner take besides."""


@dataclass(frozen=True)
class Settings:
    """The checked arguments of an environment."""

    rules: Rules
    reward: Reward
    auto_forced: bool
    max_rolls: int | None
    render_mode: str | None
    render_size: int


def settings(
    *,
    rules: Rules | None = None,
    reward: str | Reward = "win",
    auto_forced: bool = False,
    max_rolls: int | None = None,
    render_mode: str | None = None,
    render_size: int = 600,
    render_modes: tuple[str, ...] = RENDER_MODES,
    besides: tuple[str, ...] = (),
    **fields_of_rules: Any,
) -> Settings:
    """Check the arguments that all environments take, and fill in the rest.

    Args:
        rules: The rules, or None for fields of `Rules`.
        reward: A reward's name or object.
        auto_forced: Whether decisions with one legal move are played through.
        max_rolls: Rolls after which a game is truncated; None for no limit.
        render_mode: None or one of ``render_modes``.
        render_size: Width and height of pictures in pixels, 64 to 4,096.
        render_modes: Those that the environment has.
        besides: What the environment takes besides, to be named where an argument is unknown.
        **fields_of_rules: Fields of `Rules`.

    Raises:
        ValueError: An argument is wrong, or rules are given both ways.
    """
    if not isinstance(auto_forced, bool | np.bool_):
        raise ValueError(f"auto_forced must be True or False, got {auto_forced!r}")
    if max_rolls is not None:
        max_rolls = positive("max_rolls", max_rolls)
    if render_mode is not None and render_mode not in render_modes:
        allowed = ", ".join(map(repr, render_modes))
        raise ValueError(f"render_mode must be None or one of {allowed}, got {render_mode!r}")
    if positive("render_size", render_size) not in range(64, 4097):
        raise ValueError(f"render_size must be from 64 to 4096 pixels, got {render_size}")
    chosen = _rules(rules, fields_of_rules, besides)
    if auto_forced and chosen.num_pawns == 1:
        raise ValueError("auto_forced must be False with num_pawns=1: no decision would be left")
    return Settings(
        chosen,
        as_reward(reward),
        bool(auto_forced),
        max_rolls,
        render_mode,
        int(render_size),
    )


def _rules(
    rules: Rules | None, fields_of_rules: Mapping[str, Any], besides: tuple[str, ...]
) -> Rules:
    known = [field.name for field in fields(Rules)]
    for name in fields_of_rules:
        if name not in known:
            names = ", ".join([*besides, *SHARED, *known])
            raise ValueError(f"unknown argument {name!r}; known are {names}")
    if rules is None:
        return Rules(**fields_of_rules)
    if fields_of_rules:
        given = ", ".join(fields_of_rules)
        raise ValueError(f"give either rules or the fields of Rules, got rules and {given}")
    return as_rules(rules)


def beginning(options: Mapping[str, Any] | None, rules: Rules) -> dict[str, Any]:
    """``position`` and ``dice`` from the options of a reset; other keys are ignored.

    Raises:
        ValueError: The position is impossible or finished.
    """
    if options is None:
        return {"position": None, "dice": None}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dictionary, got {options!r}")
    position = options.get("position")
    if position is not None:
        position = _unfinished(as_position(position, rules))
    return {"position": position, "dice": options.get("dice")}


def _unfinished(position: Position) -> Position:
    if position.winner is not None:
        raise ValueError(f"position must not be finished, got {str(position)!r}")
    return position


def view_space() -> spaces.Box:
    """The space of a flat observation."""
    return spaces.Box(0, 1, (OBSERVATION_LENGTH,), np.int8)
