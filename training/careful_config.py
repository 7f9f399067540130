"""What `training.careful` is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from ludo_env.core.scripted import policy_code
from training.config import at_least, numbers_of_players, within


def _divisible(name: str, games: int) -> None:
    """Refuse numbers of games in which seats cannot go round."""
    if games < 1 or games % 12:
        raise ValueError(f"{name} must be a multiple of 12, got {games}")


@dataclass(frozen=True)
class SearchConfig:
    """A search by CMA-ES.

    Args:
        generations: How many times candidates are drawn and compared.
        population: Candidates in a generation.
        games: Games that each of them plays, with the same dice as the others; a multiple of 12.
        spread: The standard deviation of the first candidates' weights, around zeros.
        value_spread: That of the first candidates' values, around the weights found, in steps.
        against: The scripted agent that fills all other seats.
    """

    generations: int = 100
    population: int = 16
    games: int = 4800
    spread: float = 100.0
    value_spread: float = 0.3
    against: str = "advance"

    def __post_init__(self) -> None:
        at_least("search.generations", self.generations, 1)
        at_least("search.population", self.population, 4)
        _divisible("search.games", self.games)
        within("search.spread", self.spread, 1e6)
        within("search.value_spread", self.value_spread, 1e6)
        policy_code(self.against)


@dataclass(frozen=True)
class JudgeConfig:
    """How the weights found are judged, under the default rules.

    Args:
        against: Scripted opponents; each fills all other seats.
        games: Games of each kind at the end, a multiple of 12.
        curve_every: Generations between two points of the curve; 0 for none.
        curve_games: Games for a point, a multiple of 12.
        fitting_games: Games between the weights to whose outcomes the values are scaled.
        seed: The seed of all of these.
    """

    against: list[str] = field(default_factory=lambda: ["random", "advance"])
    games: int = 24_000
    curve_every: int = 10
    curve_games: int = 12_000
    fitting_games: int = 6_000
    seed: int = 1

    def __post_init__(self) -> None:
        for name in self.against:
            policy_code(name)
        at_least("evaluation.curve_every", self.curve_every, 0)
        at_least("evaluation.fitting_games", self.fitting_games, 1)
        at_least("evaluation.seed", self.seed, 0)
        for name in ("games", "curve_games"):
            _divisible(f"evaluation.{name}", getattr(self, name))


@dataclass(frozen=True)
class CarefulConfig:
    """Search for what the careful agent's sets of squares are worth.

    Args:
        name: The run's name; its folder is runs/NAME-TIME unless `run` is given.
        run: The run's folder; it must not exist yet.
        players: Numbers of players; each has its own weights.
        seed: The seed of candidates and games.
        checkpoint_minutes: Minutes between two checkpoints.
        keep_checkpoints: How many are kept.
        search: How weights are searched for.
        evaluation: How they are judged.
    """

    name: str = "careful"
    run: str | None = None
    players: list[int] = field(default_factory=lambda: [2, 3, 4])
    seed: int = 0
    checkpoint_minutes: float = 1.0
    keep_checkpoints: int = 2
    search: SearchConfig = field(default_factory=SearchConfig)
    evaluation: JudgeConfig = field(default_factory=JudgeConfig)

    def __post_init__(self) -> None:
        numbers_of_players("players", self.players)
        at_least("seed", self.seed, 0)
        if self.seed >= 2**31:
            raise ValueError(f"seed must be below 2**31, got {self.seed}")
        within("checkpoint_minutes", self.checkpoint_minutes, 1e9)
        at_least("keep_checkpoints", self.keep_checkpoints, 1)
