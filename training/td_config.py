"""What `training.td` is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from ludo_env import Rules
from training.config import at_least, network_widths, numbers_of_players, within


@dataclass(frozen=True)
class TableConfig:
    """Games that teach.

    Args:
        games: How many are played at the same time.
        rules: Their rules.
    """

    games: int
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        at_least("tables.games", self.games, 1)


@dataclass(frozen=True)
class TDLearnerConfig:
    """How the network learns.

    Args:
        steps: Positions of each game between two changes of the network that plays.
        trace: λ: how much a position learns from errors further on in its game.
        exploring: The chance that a move is drawn from all legal ones.
        widths: Units of the two layers, multiples of 64 and 16.
        batch_size: Positions in a minibatch.
        learning_rate: Adam's, at the start.
        final_learning_rate: At the end; linear in between.
        averaging: What each update leaves of the averaged weights, which play and are kept.
        threads: Threads that play, and PyTorch's.
    """

    steps: int = 128
    trace: float = 0.97
    exploring: float = 0.05
    widths: list[int] = field(default_factory=lambda: [256, 32])
    batch_size: int = 1024
    learning_rate: float = 1e-3
    final_learning_rate: float = 5e-5
    averaging: float = 0.99
    threads: int = 2

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "threads"):
            at_least(f"learner.{name}", getattr(self, name), 1)
        within("learner.learning_rate", self.learning_rate, 1.0)
        for name in ("trace", "exploring", "final_learning_rate", "averaging"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"learner.{name} must be from 0 to 1, got {getattr(self, name)}")
        if self.averaging == 1.0:
            raise ValueError("learner.averaging must be below 1, or nothing is learned")
        network_widths("learner.widths", self.widths)


@dataclass(frozen=True)
class TDEvaluationConfig:
    """How the agent is judged, under the default rules.

    Args:
        players: Numbers of players.
        against: Opponents; each fills all other seats.
        games: Games of each kind at the end, a multiple of all numbers of players.
        curve_every: Positions between two points of the learning curve; 0 for none.
        curve_games: Games of each kind for a point.
        seed: The seed of all evaluations.
    """

    players: list[int] = field(default_factory=lambda: [2, 4])
    against: list[str] = field(default_factory=lambda: ["random", "advance"])
    games: int = 20_000
    curve_every: int = 5_000_000
    curve_games: int = 2_000
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.against:
            raise ValueError("evaluation.against must name at least one opponent")
        numbers_of_players("evaluation.players", self.players)
        at_least("evaluation.seed", self.seed, 0)
        at_least("evaluation.curve_every", self.curve_every, 0)
        for name in ("games", "curve_games"):
            games = getattr(self, name)
            at_least(f"evaluation.{name}", games, 2)
            if any(games % players for players in self.players):
                raise ValueError(
                    f"evaluation.{name} must be a multiple of {self.players}, got {games}"
                )


@dataclass(frozen=True)
class TDConfig:
    """Learn players' chances to win by self-play.

    Args:
        name: The run's name; its folder is runs/NAME-TIME unless `run` is given.
        run: The run's folder; it must not exist yet.
        total_positions: Positions to learn from; rounded up to whole rounds of all tables.
        seed: The seed of weights, games and shuffles.
        checkpoint_minutes: Minutes between two checkpoints.
        keep_checkpoints: How many are kept.
        tables: The games that teach, by rules.
        learner: How the network learns.
        evaluation: How the agent is judged.
    """

    name: str = "td"
    run: str | None = None
    total_positions: int = 10_000_000
    seed: int = 0
    checkpoint_minutes: float = 2.0
    keep_checkpoints: int = 2
    tables: list[TableConfig] = field(
        default_factory=lambda: [TableConfig(512, Rules(num_players=2))]
    )
    learner: TDLearnerConfig = field(default_factory=TDLearnerConfig)
    evaluation: TDEvaluationConfig = field(default_factory=TDEvaluationConfig)

    def __post_init__(self) -> None:
        at_least("total_positions", self.total_positions, 1)
        at_least("seed", self.seed, 0)
        if self.seed >= 2**31:
            raise ValueError(f"seed must be below 2**31, got {self.seed}")
        within("checkpoint_minutes", self.checkpoint_minutes, 1e9)
        at_least("keep_checkpoints", self.keep_checkpoints, 1)
        if not self.tables:
            raise ValueError("tables must name at least one kind of games")
        round_ = self.learner.steps * sum(table.games for table in self.tables)
        if round_ < self.learner.batch_size:
            raise ValueError(
                f"learner.batch_size must be at most {round_}, the positions of a round; "
                f"got {self.learner.batch_size}"
            )
