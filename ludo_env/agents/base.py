"""What an agent is, and how one is made from its spec."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.scripted import Scripted
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints, seed_or_fresh
from ludo_env.core.scripted import POLICIES


@runtime_checkable
class Agent(Protocol):
    """A policy over batches of games.

    `act` must not change the batch, and an agent's own draws depend on its seed, the game's seed
    and the decision alone, so that results do not depend on how games are batched.
    """

    def act(self, batch: GameBatch, rows: Ints) -> NDArray[Any]:
        """Choose an action in each of the rows, all at a decision.

        Args:
            batch: The games; their coming dice are not those that will be rolled.
            rows: Row numbers, int64 (k,).

        Returns:
            Legal actions, integers (k,).
        """
        ...


def _sb3(path: str, seed: int) -> Agent:
    from ludo_env.agents.sb3 import SB3Agent

    return SB3Agent(path)


def _exact(path: str, seed: int) -> Agent:
    from ludo_env.agents.exact import ExactAgent

    return ExactAgent(path)


def _td(argument: str, seed: int) -> Agent:
    from ludo_env.agents.td import TD

    path, _, depth = argument.rpartition(":")
    if depth.isdecimal() and (path or not argument.startswith(":")):
        return TD(int(depth), path or None)
    return TD(1, argument or None)


def _expectimax(argument: str, seed: int) -> Agent:
    from ludo_env.agents.expectimax import CarefulEvaluation, Expectimax

    if argument and not argument.isdecimal():
        raise ValueError(f"agent 'expectimax:{argument}': the depth must be a number")
    depth = int(argument) if argument else 2
    return Expectimax(depth, CarefulEvaluation(), f"expectimax:{depth}")


# Specs of the form NAME:ARGUMENT.
_FAMILIES: dict[str, Callable[[str, int], Agent]] = {
    "sb3": _sb3,
    "exact": _exact,
    "expectimax": _expectimax,
    "td": _td,
}

# Those of them that make sense without an argument.
_ALONE = ("expectimax", "td")

SPECS = {
    "random": "plays any legal move",
    "first": "plays the most advanced pawn that may move",
    "advance": "captures if possible, else plays the most advanced pawn that may move",
    "careful": "takes shelter, keeps out of reach, stays close behind opponents, captures",
    "expectimax[:DEPTH]": "looks DEPTH choices ahead (default: 2), and judges as careful does",
    "td[:DEPTH]": "looks DEPTH choices ahead (default: 1) with chances learned by self-play",
    "td:PATH[:DEPTH]": "the same with the network of a file that `python -m training.td` wrote",
    "sb3:PATH": "a MaskablePPO model saved by Stable-Baselines3's contrib package",
    "exact:PATH": "perfectly, by a solution that `ludo solve` saved (two players, up to 3 pawns)",
    "MODULE:ATTRIBUTE": "your own: an object with act(batch, rows), or a callable that returns one",
}
"""The specs that `make_agent` knows, each with what it plays."""


def make_agent(spec: Any, *, seed: int | None = None) -> Agent:
    """An agent from its spec; an agent is returned as it is.

    Args:
        spec: One of `SPECS`.
        seed: The seed of the agent's own draws; None for a fresh one.

    Raises:
        ValueError: The spec is unknown, or what it names cannot be loaded.
    """
    seed = seed_or_fresh(seed)
    if isinstance(spec, str):
        return _from_text(spec, seed)
    return _checked(spec, repr(spec))


def _from_text(spec: str, seed: int) -> Agent:
    if spec in POLICIES:
        return Scripted(spec, seed)
    family, colon, argument = spec.partition(":")
    if spec in _ALONE:
        return _FAMILIES[spec]("", seed)
    if not (family and colon and argument):
        raise ValueError(f"unknown agent {spec!r}; known are {', '.join(SPECS)}")
    if family in _FAMILIES:
        return _FAMILIES[family](argument, seed)
    if family in POLICIES:
        raise ValueError(f"agent {spec!r}: {family} stands alone; known are {', '.join(SPECS)}")
    return _from_module(spec, family, argument)


def _from_module(spec: str, module: str, attribute: str) -> Agent:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise ValueError(
                f"agent {spec!r}: {module} needs {error.name}, not installed"
            ) from error
        known = ", ".join(SPECS)
        raise ValueError(f"agent {spec!r}: no module {module!r}; known are {known}") from None
    except (Exception, SystemExit) as error:
        raise ValueError(f"agent {spec!r}: importing {module} failed: {error!r}") from error
    if not hasattr(found, attribute):
        raise ValueError(f"agent {spec!r}: module {module!r} has no attribute {attribute!r}")
    agent = getattr(found, attribute)
    if isinstance(agent, type) or not isinstance(agent, Agent):
        agent = _called(spec, agent)
    return _checked(agent, repr(spec))


def _called(spec: str, factory: Any) -> Any:
    if not callable(factory):
        return factory
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"agent {spec!r}: calling it without arguments failed: {error!r}"
        ) from error


def _checked(agent: Any, name: str) -> Agent:
    if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
        raise ValueError(f"agent must be a spec or an object with act(batch, rows), got {name}")
    return cast(Agent, agent)


def ask(agent: Agent, batch: GameBatch, rows: Ints) -> Ints:
    """An agent's actions, int64 (k,), with their form checked; legality shows when they are played.

    Raises:
        ValueError: The agent returned something else than one integer for each row.
    """
    answer = agent.act(batch, rows)
    try:
        actions = np.asarray(answer)
    except ValueError:  # lists of different lengths
        actions = np.asarray(None)
    if actions.shape != rows.shape or actions.dtype.kind not in "iu":
        got = f"{actions.dtype} of shape {actions.shape}"
        raise ValueError(f"agent {agent!r} must return integers of shape {rows.shape}, got {got}")
    return actions.astype(np.int64, copy=False)
