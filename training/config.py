"""What a training run is told: typed dataclasses, read from YAML, every field a flag."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast

import yaml
from jsonargparse import ArgumentError, ArgumentParser, Namespace

from ludo_env import Rules
from ludo_env.core.vectors import LAYER_COLUMNS, SUM_COLUMNS

BAD_ARGUMENTS = 2

Config = TypeVar("Config")


@dataclass(frozen=True)
class EnvConfig:
    """The games that are learned from.

    Args:
        num_envs: Games played at the same time.
        opponents: Agents to play against, each with its share of the games; past_self stands for
            what the learner was before (see `training.pool`).
        seat: The learner's player number, or "random".
        reward: "win", "place" or "shaped" (whose discount is the learner's).
        auto_forced: Whether decisions with one legal move are played through.
        max_rolls: Rolls after which a game is cut; null for no limit.
        luck_judge: By whom the luck of the dice is judged that is taken out of the rewards (see
            `training.luck`): "critic" is the learner's own, "td" and "td:PATH" are networks that
            `training.td` wrote; null leaves the rewards as they are. For the reward "win" and the
            policy "afterstate".
    """

    num_envs: int = 64
    opponents: dict[str, float] = field(default_factory=lambda: {"random": 1.0})
    seat: int | Literal["random"] = "random"
    reward: str = "win"
    auto_forced: bool = True
    max_rolls: int | None = None
    luck_judge: str | None = None

    def __post_init__(self) -> None:
        at_least("env.num_envs", self.num_envs, 1)
        if not self.opponents or not all(0 < share < 1e9 for share in self.opponents.values()):
            raise ValueError(f"env.opponents must have shares above 0, got {self.opponents}")


@dataclass(frozen=True)
class LearnerConfig:
    """MaskablePPO's settings.

    Args:
        rollout_length: Decisions of each game between two updates.
        batch_size: Decisions in a minibatch.
        epochs: Passes over a rollout.
        learning_rate: At the start.
        final_learning_rate: At the end; linear in between.
        discount: γ for each own decision; a two-player game has about 45 unforced ones.
        gae_lambda: λ of the advantage estimate.
        clip_range: PPO's clip.
        entropy: Weight of the entropy bonus.
        value: Weight of the value loss.
        max_grad_norm: Gradients are clipped to this norm.
        policy: "mlp" maps observations to actions; "afterstate" judges actions by where they lead.
        hidden: Widths of the hidden layers, for policy and value each; two for "afterstate".
        use_masks: Whether illegal actions are masked while learning.
        threads: Threads of PyTorch, and of judging luck.
    """

    rollout_length: int = 128
    batch_size: int = 1024
    epochs: int = 4
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    discount: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    max_grad_norm: float = 0.5
    policy: Literal["mlp", "afterstate"] = "mlp"
    hidden: list[int] = field(default_factory=lambda: [128, 128])
    use_masks: bool = True
    threads: int = 1

    def __post_init__(self) -> None:
        for name in ("rollout_length", "epochs", "threads"):
            at_least(f"learner.{name}", getattr(self, name), 1)
        at_least("learner.batch_size", self.batch_size, 2)
        for name in ("discount", "gae_lambda", "clip_range", "learning_rate"):
            within(f"learner.{name}", getattr(self, name), 1.0)
        within("learner.max_grad_norm", self.max_grad_norm, 1e9)
        for name in ("final_learning_rate", "entropy", "value"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"learner.{name} must be from 0 to 1, got {getattr(self, name)}")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"learner.hidden must be widths of at least 1, got {self.hidden}")
        if self.policy == "afterstate":
            network_widths("learner.hidden", self.hidden)


@dataclass(frozen=True)
class PoolConfig:
    """The learner's past selves.

    Args:
        every: Steps between two snapshots; all games then get their opponents anew.
        size: How many past selves are kept; the easiest leaves.
        power: A past self plays in proportion to the learner's chance to lose against it, to this
            power; 0 for all alike.
    """

    every: int = 500_000
    size: int = 12
    power: float = 2.0

    def __post_init__(self) -> None:
        at_least("pool.every", self.every, 1)
        at_least("pool.size", self.size, 1)
        if not 0.0 <= self.power <= 100.0:
            raise ValueError(f"pool.power must be from 0 to 100, got {self.power}")


@dataclass(frozen=True)
class ImitationConfig:
    """What the learner starts with: nothing, or how a teacher plays (see `training.imitation`).

    Args:
        teacher: An agent; null for none.
        decisions: The teacher's decisions that are shown, with a choice each; rounded up to rounds
            of 512 whole games.
        learning_rate: At the start; linear to the learner's.
    """

    teacher: str | None = None
    decisions: int = 1_000_000
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        at_least("imitation.decisions", self.decisions, 1)
        within("imitation.learning_rate", self.learning_rate, 1.0)


@dataclass(frozen=True)
class EvaluationConfig:
    """How the agent is judged.

    Args:
        against: Opponents; each fills all other seats.
        games: Games against each at the end, a multiple of the players.
        curve_every: Steps between two points of the learning curve; 0 for none.
        curve_games: Games against each opponent for a point.
        seed: The seed of all evaluations.
    """

    against: list[str] = field(default_factory=lambda: ["random", "advance"])
    games: int = 4000
    curve_every: int = 200_000
    curve_games: int = 400
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.against:
            raise ValueError("evaluation.against must name at least one opponent")
        at_least("evaluation.seed", self.seed, 0)
        at_least("evaluation.games", self.games, 2)
        at_least("evaluation.curve_every", self.curve_every, 0)
        at_least("evaluation.curve_games", self.curve_games, 2)


@dataclass(frozen=True)
class PPOConfig:
    """A training run of MaskablePPO.

    Args:
        name: The run's name; its folder is runs/NAME-TIME unless `run` is given.
        run: The run's folder; it must not exist yet.
        total_steps: The learner's decisions, over all games; rounded up to whole rollouts.
        seed: The first training seed.
        seeds: How many seeds to train, one after another: seed, seed + 1, …
        checkpoint_minutes: Minutes between two checkpoints.
        keep_checkpoints: How many are kept of each seed.
        rules: The rules of the game.
        env: The games that are learned from.
        pool: The learner's past selves, where it plays against them.
        imitation: What the learner starts with.
        learner: MaskablePPO's settings.
        evaluation: How the agent is judged.
    """

    name: str = "ppo"
    run: str | None = None
    total_steps: int = 1_000_000
    seed: int = 0
    seeds: int = 1
    checkpoint_minutes: float = 1.0
    keep_checkpoints: int = 2
    rules: Rules = field(default_factory=lambda: Rules(num_players=2))
    env: EnvConfig = field(default_factory=EnvConfig)
    pool: PoolConfig = field(default_factory=PoolConfig)
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    def __post_init__(self) -> None:
        at_least("total_steps", self.total_steps, 1)
        at_least("seed", self.seed, 0)
        if self.seed + self.seeds > 2**31:
            raise ValueError(f"seed must be below 2**31, got {self.seed}")
        within("checkpoint_minutes", self.checkpoint_minutes, 1e9)
        at_least("seeds", self.seeds, 1)
        at_least("keep_checkpoints", self.keep_checkpoints, 1)
        fair = self.learner.policy == "afterstate" and self.env.reward == "win"
        if self.env.luck_judge and (not fair or self.env.max_rolls is not None):
            raise ValueError(
                "env.luck_judge needs learner.policy afterstate, env.reward win, no env.max_rolls"
            )
        taught = self.imitation.teacher is not None
        if taught and (self.env.reward == "shaped" or self.learner.discount != 1.0):
            raise ValueError(
                "imitation.teacher needs env.reward win or place, and learner.discount 1"
            )
        if taught and self.rules.num_pawns == 1:
            raise ValueError(
                "imitation.teacher needs rules.num_pawns above 1: else none has a choice"
            )
        rollout = self.env.num_envs * self.learner.rollout_length
        if rollout % self.learner.batch_size:
            raise ValueError(
                f"learner.batch_size must divide a rollout, env.num_envs times "
                f"learner.rollout_length = {rollout}; got {self.learner.batch_size}"
            )
        for name in ("games", "curve_games"):
            games = getattr(self.evaluation, name)
            if games % self.rules.num_players:
                raise ValueError(
                    f"evaluation.{name} must be a multiple of {self.rules.num_players} players, "
                    f"got {games}"
                )


class _Parser(ArgumentParser):
    """A parser that leaves with one line on stderr."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        fail(BAD_ARGUMENTS, message)


def fail(code: int, message: str) -> NoReturn:
    """Leave with one line on stderr."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(code)


def parse(
    kind: type[Config], script: str, arguments: Sequence[str] | None = None
) -> tuple[Config, Path | None]:
    """The configuration of a new run, or that of the run to go on with and its folder.

    Leaves with code 2 and one line on stderr where something is unknown or wrong.

    Args:
        kind: The configuration's dataclass.
        script: The script's module.
        arguments: The command line; None for this process's.
    """
    given = _config_first(sys.argv[1:] if arguments is None else arguments)
    parser = _Parser(prog=f"python -m {script}", description=(kind.__doc__ or "").splitlines()[0])
    parser.add_argument("--config", action="config", help="a recipe in YAML")
    parser.add_argument("--resume", metavar="RUN", help="go on with a run; takes no other flag")
    parser.add_class_arguments(kind, fail_untyped=True)
    try:
        _refuse_other_than_settings(given)
        options = parser.parse_args(given)
        if options.resume is None:
            return _build(kind, parser, options), None
        if len(given) > (1 if given[0].startswith("--resume=") else 2):
            parser.error("--resume goes on with the run's own configuration: no other flag")
        run = Path(options.resume)
        return read_config(kind, script, run / "config.yaml"), run
    except (ArgumentError, ValueError, TypeError) as error:
        fail(BAD_ARGUMENTS, str(error))


def _config_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``--config FILE`` before all flags, which override it."""
    given = list(arguments)
    for i, argument in enumerate(given):
        if argument == "--config":
            return [*given[i : i + 2], *given[:i], *given[i + 2 :]]
        if argument.startswith("--config="):
            return [argument, *given[:i], *given[i + 1 :]]
    return given


def _refuse_other_than_settings(given: Sequence[str]) -> None:
    """Refuse a recipe that is empty or something else than settings."""
    named = [file for flag, file in pairwise(given) if flag == "--config"]
    named += [flag.removeprefix("--config=") for flag in given if flag.startswith("--config=")]
    for path in map(Path, named):
        if path.is_file():
            settings_of(path)


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a file in YAML, not checked.

    Raises:
        ValueError: It is no such file.
    """
    try:
        settings = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not isinstance(settings, dict):
        got = "nothing" if settings is None else f"{settings!r:.40}"
        raise ValueError(f"{path} must hold settings, such as total_steps: 1000; it holds {got}")
    return settings


def read_config(kind: type[Config], script: str, path: Path) -> Config:
    """A resolved configuration that `write_config` wrote.

    Raises:
        ValueError: The file is missing, or is no configuration of this script.
    """
    if not path.is_file():
        raise ValueError(f"no run to go on with: there is no {path}")
    parser = ArgumentParser(exit_on_error=False)
    parser.add_class_arguments(kind, fail_untyped=True)
    try:
        return _build(kind, parser, parser.parse_object(settings_of(path)))
    except (ArgumentError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no configuration of python -m {script}: {error}") from error


def _build(kind: type[Config], parser: ArgumentParser, options: Namespace) -> Config:
    ready = parser.instantiate(options)
    return kind(**{f.name: getattr(ready, f.name) for f in fields(cast(Any, kind))})


def write_config(config: Any, path: Path) -> None:
    """Write the resolved configuration as YAML."""
    path.write_text(yaml.safe_dump(as_dict(config), sort_keys=False))


def as_dict(config: Any) -> Any:
    """A dataclass as plain dictionaries, lists and values."""
    if is_dataclass(config):
        return {f.name: as_dict(getattr(config, f.name)) for f in fields(config)}
    if isinstance(config, dict):
        return {key: as_dict(value) for key, value in config.items()}
    if isinstance(config, list | tuple):
        return [as_dict(value) for value in config]
    return config


def network_widths(name: str, widths: Sequence[int]) -> None:
    """Refuse widths that a network of the package cannot have."""
    first, second = SUM_COLUMNS, LAYER_COLUMNS
    if len(widths) != 2 or min(widths) < 1 or widths[0] % first or widths[1] % second:
        raise ValueError(
            f"{name} must be two multiples of {first} and {second}, got {list(widths)}"
        )


def numbers_of_players(name: str, given: Sequence[int]) -> None:
    """Refuse what are no different numbers of players."""
    if not given or not set(given) <= {2, 3, 4} or len(set(given)) < len(given):
        raise ValueError(f"{name} must be different ones of 2, 3, 4; got {given}")


def at_least(name: str, value: int, low: int) -> None:
    """Refuse a number that is too low."""
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value}")


def within(name: str, value: float, high: float) -> None:
    """Refuse a number that is not above 0 and at most ``high``."""
    if not 0.0 < value <= high:
        raise ValueError(f"{name} must be above 0 and at most {high:g}, got {value}")
