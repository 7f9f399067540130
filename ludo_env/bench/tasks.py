"""What the benchmark measures: tasks that tell how much they get done in a second."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np

from ludo_env import ludo_v0
from ludo_env.agents.base import make_agent
from ludo_env.arena.match import play
from ludo_env.core.batch import GameBatch
from ludo_env.core.noting import DECISIONS
from ludo_env.core.rules import Rules
from ludo_env.envs.vector import LudoVectorEnv


class TaskUnavailableError(Exception):
    """Something that the task needs is not on this machine."""


class Task:
    """Work that can be repeated for some time.

    Attributes:
        also: What else was done with each unit, by name: rolls, games, decisions.
    """

    also: Mapping[str, float] = MappingProxyType({})

    def chunk(self) -> int:
        """Do some of the work. Returns how many units were done."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """Compile and fill caches."""
        self.chunk()

    def rate(self, seconds: float) -> float:
        """Units done in a second, over about ``seconds``."""
        done, began = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - began) < seconds:
            done += self.chunk()
        return done / elapsed


class Rollout(Task):
    """A scripted policy's play wholly in compiled code."""

    def __init__(self, players: int, games: int, threads: int = 1, policy: str = "random") -> None:
        rules = Rules(num_players=players)
        self.batch = GameBatch(games, rules, seed=1, num_threads=threads)
        self.steps = max(500, 1_000_000 // games)
        self.policy = policy

    def chunk(self) -> int:
        """See `Task.chunk`."""
        stats = self.batch.rollout(self.steps, self.policy)
        rolls, games = stats.rolls / stats.decisions, stats.finished / stats.decisions
        self.also = {"rolls": rolls, "games": games}
        return stats.decisions

    def __str__(self) -> str:
        return f"rollout, {self.policy}"


class Match(Task):
    """Scripted agents in the arena, one for each seat, with all that it notes of their games."""

    def __init__(self, agents: Sequence[str]) -> None:
        self.agents = agents
        self.rules = Rules(num_players=len(agents))
        self.games = 1024 * 2 * len(agents)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        results = play(self.agents, games=self.games, rules=self.rules, seed=1)
        decisions = int(results.notes[:, :, DECISIONS].sum())
        self.also = {"games": len(results) / decisions}
        return decisions

    def __str__(self) -> str:
        return f"arena, {', '.join(self.agents)}"


class Act(Task):
    """An agent that plays all seats of a batch, from Python: `act` and `step`."""

    def __init__(self, spec: str, games: int = 1024, threads: int = 1) -> None:
        self.agent = make_agent(spec, seed=1)
        self.batch = GameBatch(games, seed=1, num_threads=threads)
        self.actions = np.zeros(games, dtype=np.int64)
        self.spec = spec

    def chunk(self) -> int:
        """See `Task.chunk`."""
        rows = np.flatnonzero(~self.batch.finished)
        self.actions[rows] = self.agent.act(self.batch, rows)
        self.batch.step(self.actions)
        return len(rows)

    def __str__(self) -> str:
        return f"act, {self.spec}"


class Step(Task):
    """Stepping from Python with masks, and perhaps observations; the first legal action."""

    def __init__(self, games: int, threads: int = 1, observes: bool = True) -> None:
        self.batch = GameBatch(games, seed=1, num_threads=threads)
        self.observes = observes
        self.repeats = max(1, 20_000 // games)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        for _ in range(self.repeats):
            self.batch.step(self.batch.masks().argmax(axis=1))
            if self.observes:
                self.batch.observations()
        return self.repeats * len(self.batch)


class StepVector(Task):
    """The native vector environment, four players; the learner's first legal action."""

    def __init__(self, games: int, opponents: str) -> None:
        self.name = f"VectorEnv, {opponents} opponents"
        self.env: Any = LudoVectorEnv(games, opponents=opponents)
        _, self.infos = self.env.reset(seed=1)
        self.repeats = max(1, 20_000 // games)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        for _ in range(self.repeats):
            actions = self.infos["action_mask"].argmax(axis=1)
            self.infos = self.env.step(actions)[-1]
        return self.repeats * self.env.num_envs

    def __str__(self) -> str:
        return self.name


class PlayAEC(Task):
    """A PettingZoo game: ``last()`` and the first legal action.

    Args:
        game: ``"ludo"`` or ``"tictactoe"``.
        kind: ``"raw_env"``, or ``"env"`` with PettingZoo's wrappers.
    """

    def __init__(self, game: str, kind: str) -> None:
        self.name = f"PettingZoo {game} {kind}"
        module: Any = ludo_v0 if game == "ludo" else _tictactoe()
        self.env: Any = getattr(module, kind)()
        self.env.reset(seed=1)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        env, steps = self.env, 0
        while steps < 1000:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            env.step(int(observation["action_mask"].argmax()))
            steps += 1
        return steps

    def __str__(self) -> str:
        return self.name


class PlayGym(Task):
    """A Gymnasium environment made by its id; action 0 or the first legal one."""

    def __init__(self, env_id: str) -> None:
        self.env_id = env_id
        arguments: dict[str, Any] = {"num_players": 2} if env_id.startswith("ludo_env/") else {}
        self.env = gymnasium.make(env_id, **arguments)
        _, self.info = self.env.reset(seed=1)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        env, info = self.env, self.info
        for _ in range(1000):
            mask = info.get("action_mask")
            action = 0 if mask is None else mask.argmax()
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        self.info = info
        return 1000

    def __str__(self) -> str:
        return self.env_id


class Film(Task):
    """The frames of a Gymnasium environment: a step and its picture; action 0 or the first legal.

    Raises:
        TaskUnavailableError: pygame is missing.
    """

    def __init__(self, env_id: str, **arguments: Any) -> None:
        self.env_id = env_id
        self.env = gymnasium.make(env_id, render_mode="rgb_array", **arguments)
        _, self.info = self.env.reset(seed=1)
        try:
            self.env.render()
        except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
            raise TaskUnavailableError(f"{error}") from None

    def chunk(self) -> int:
        """See `Task.chunk`."""
        for _ in range(20):
            mask = self.info.get("action_mask")
            action = 0 if mask is None else mask.argmax()
            _, _, terminated, truncated, self.info = self.env.step(action)
            self.env.render()
            if terminated or truncated:
                _, self.info = self.env.reset()
        return 20

    def __str__(self) -> str:
        return f"{self.env_id}, rgb_array"


class Yardstick(Task):
    """The same game in plain C, in one process or in several at once."""

    def __init__(self, players: int, mode: str, games: int, processes: int = 1) -> None:
        self.name = f"C {mode}" if processes == 1 else f"C {mode}, {processes} processes"
        self.arguments = [str(players), mode, str(games)]
        self.processes = processes
        self.program = _compiled_yardstick()

    def warm_up(self) -> None:
        """The program warms itself up."""

    def rate(self, seconds: float) -> float:
        """See `Task.rate`."""
        command = [self.program, *self.arguments, str(seconds)]
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for _ in range(self.processes)
        ]
        answers = [process.communicate()[0] for process in running]
        return sum(float(json.loads(answer)["decisions_per_second"]) for answer in answers)

    def __str__(self) -> str:
        return self.name


def _tictactoe() -> Any:
    try:
        from pettingzoo.classic import tictactoe_v3
    except ImportError as error:
        message = f"tictactoe needs {error.name}: pip install 'ludo_env[render]'"
        raise TaskUnavailableError(message) from None
    return tictactoe_v3


_programs: list[str] = []


def _compiled_yardstick() -> str:
    """The path of the compiled C program; compiled once in a process."""
    if _programs:
        return _programs[0]
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise TaskUnavailableError("no C compiler")
    folder = tempfile.mkdtemp(prefix="ludo_env-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, program = Path(__file__).with_name("yardstick.c"), f"{folder}/yardstick"
    command = [compiler, "-O3", "-march=native", str(source), "-o", program]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        raise TaskUnavailableError("the C compiler failed")
    _programs.append(program)
    return program
