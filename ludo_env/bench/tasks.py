"""What the benchmark measures: tasks that tell how much they get done in a second."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import gymnasium

from ludo_env.core.batch import GameBatch
from ludo_env.core.rules import Rules
from ludo_env.ludo_v0 import raw_env


class TaskUnavailableError(Exception):
    """Something that the task needs is not on this machine."""


class Task:
    """Work that can be repeated for some time."""

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
    """Random play wholly in compiled code."""

    def __init__(self, players: int, games: int) -> None:
        self.batch = GameBatch(games, Rules(num_players=players), seed=1)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        return self.batch.rollout(500).decisions


class StepAndObserve(Task):
    """Stepping from Python, with masks and observations; the first legal action is played."""

    def __init__(self, players: int, games: int) -> None:
        self.batch = GameBatch(games, Rules(num_players=players), seed=1)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        for _ in range(20):
            self.batch.step(self.batch.masks().argmax(axis=1))
            self.batch.observations()
        return 20 * len(self.batch)


class PlayAEC(Task):
    """A PettingZoo game: ``last()`` and the first legal action."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.env: Any = raw_env() if game == "ludo" else _tictactoe()
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
        return f"PettingZoo {self.game} raw_env"


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


class Yardstick(Task):
    """The same game in plain C on one core."""

    def __init__(self, players: int, mode: str, games: int) -> None:
        self.arguments = [str(players), mode, str(games)]
        self.program = _compiled_yardstick()

    def warm_up(self) -> None:
        """The program warms itself up."""

    def rate(self, seconds: float) -> float:
        """See `Task.rate`."""
        command = [self.program, *self.arguments, str(seconds)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return float(json.loads(answer)["decisions_per_second"])

    def __str__(self) -> str:
        return f"C {self.arguments[1]}"


def _tictactoe() -> Any:
    try:
        from pettingzoo.classic import tictactoe_v3
    except ImportError as error:
        message = f"tictactoe needs {error.name}: pip install 'ludo_env[render]'"
        raise TaskUnavailableError(message) from None
    return tictactoe_v3.raw_env()


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
