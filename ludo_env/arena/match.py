"""The match loop: many games at once, every agent in every seat equally often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.base import Agent, ask, make_agent
from ludo_env.core import checks, loops
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules, as_rules

Progress = Callable[[int], None]

MAX_GAMES = 100_000_000


@dataclass(frozen=True)
class Match:
    """The results of N games, row by row.

    Attributes:
        rules: The rules of all games.
        seed: The seed that all games' seeds follow from.
        names: The agents' names, told apart where they are the same.
        seeds: Each game's seed, int64 (N,).
        seats: Each agent's player number, int64 (N, P).
        places: Each agent's place (R20), int64 (N, P).
    """

    rules: Rules
    seed: int
    names: tuple[str, ...]
    seeds: Ints
    seats: Ints
    places: Ints

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def wins(self) -> NDArray[np.bool_]:
        """Who won, bool (N, P)."""
        return self.places == 1


def play_match(
    agents: Sequence[Agent],
    *,
    games: int,
    rules: Rules = Rules(),
    seed: int | None = None,
    names: Sequence[str] | None = None,
    batch_size: int = 1024,
    progress: Progress | None = None,
) -> Match:
    """Play agents against each other; results do not depend on the batch size.

    In game ``i`` agent ``a`` is player ``(a + i) % P``. Games are independent: each has a seed of
    its own. Agents are shown copies whose coming dice are not those that will be rolled.

    Args:
        agents: One for each player.
        games: Number of games N, a multiple of the number of players.
        rules: The rules.
        seed: The seed of the match; None for a fresh one.
        names: What to call the agents.
        batch_size: Games played at the same time.
        progress: Called with the number of games that have just ended.

    Raises:
        ValueError: An argument is wrong, or an agent answers with anything but legal actions.
    """
    num_players = as_rules(rules).num_players
    agents = [make_agent(agent) for agent in agents]
    if len(agents) != num_players:
        raise ValueError(f"agents must be {num_players}, one for each player; got {len(agents)}")
    games = checks.positive("games", games)
    if games > MAX_GAMES:
        raise ValueError(f"games must be at most {MAX_GAMES}, got {games}")
    if games % num_players:
        raise ValueError(f"games must be a multiple of {num_players} players, got {games}")
    seed = checks.seed_or_fresh(seed)
    seeds = np.empty(games + 1, dtype=np.int64)
    loops.spread_seeds(seed, seeds)
    seeds = seeds[1:]
    seats = (np.arange(num_players) + np.arange(games)[:, None]) % num_players
    given = [str(agent) for agent in agents] if names is None else list(names)
    if len(given) != num_players:
        raise ValueError(f"names must be {num_players}, one for each agent; got {names!r}")
    batch_size = checks.positive("batch_size", batch_size)
    places = _play(agents, rules, seeds, seats, batch_size, progress)
    return Match(rules, seed, distinct(given), seeds, seats, places)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names told apart: the second ``x`` is ``x (2)``."""
    return tuple(
        name if name not in names[:i] else f"{name} ({names[: i + 1].count(name)})"
        for i, name in enumerate(names)
    )


def _play(
    agents: Sequence[Agent],
    rules: Rules,
    seeds: Ints,
    seats: Ints,
    batch_size: int,
    progress: Progress | None,
) -> Ints:
    """Each agent's place in each game, int64 (N, P)."""
    places = np.zeros(seats.shape, dtype=np.int64)
    game_of = np.arange(min(batch_size, len(seeds)))  # the game in each row
    batch = GameBatch(len(game_of), rules, seed=seeds[game_of])
    under_way = np.arange(len(game_of))
    dealt = len(game_of)
    while len(under_way):
        _play_round(agents, batch, under_way, seats[game_of])
        over = under_way[batch.finished[under_way]]
        if not len(over):
            continue
        ended = game_of[over]
        by_player = batch.places(over)
        places[ended] = np.take_along_axis(by_player, seats[ended], axis=1)
        fresh = over[: len(seeds) - dealt]
        game_of[fresh] = np.arange(dealt, dealt + len(fresh))
        dealt += len(fresh)
        batch.reset(fresh, seeds[game_of[fresh]])
        under_way = under_way[~batch.finished[under_way]]
        if progress is not None:
            progress(len(over))
    return places


def _play_round(agents: Sequence[Agent], batch: GameBatch, rows: Ints, seats: Ints) -> None:
    """Play one decision in each of the rows."""
    shown = batch.blind()
    to_act = (seats[rows] == batch.players[rows][:, None]).argmax(axis=1)
    for number, agent in enumerate(agents):
        own = rows[to_act == number]
        if not len(own):
            continue
        try:
            batch.play(own, ask(agent, shown, own))
        except Exception as error:
            what = str(error) if isinstance(error, ValueError) else repr(error)
            raise ValueError(f"agent {agent} failed: {what}") from error
