"""Learn players' chances to win by self-play: one command from recipe to evaluated agent.

    python -m training.td --config configs/td.yaml
    python -m training.td --config configs/td.yaml --learner.trace 0.9 --total_positions 1000000
    python -m training.td --resume runs/td-…

A network plays thousands of games against itself, learns from what they teach (see
`training.lessons`), and plays on. Ctrl-C ends the run with a checkpoint, a second one at once;
`--resume` goes on from the last checkpoint exactly as if nothing had happened.

RUN/config.yaml, versions.json    the resolved configuration; package versions and machine
RUN/checkpoints/                  step_N/state.pt
RUN/learning_curve.json, .png     strength while training, by positions and minutes
RUN/td.npz                        the trained network: the agent td:RUN/td.npz
RUN/evaluation.json               the results
RUN/games/                        some of their games, N_players/OPPONENT.jsonl
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from ludo_env import Rules
from ludo_env.agents.base import make_agent
from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.network import Network
from ludo_env.agents.torch_network import Evaluator
from ludo_env.core.features import MOST_FEATURES
from ludo_env.machine import versions
from training import command, curve, evaluation, run_folder
from training.config import as_dict
from training.lessons import Lessons, SelfPlay
from training.stopping import StopRequest, counted_games
from training.td_config import TDConfig


class Learner:
    """A network, the games it plays, and what makes it better.

    Args:
        config: The run's configuration.

    Attributes:
        positions: Positions learned from.
        seconds: Time spent playing and learning.
        error: The mean of what looking one roll ahead changed of late.
    """

    def __init__(self, config: TDConfig) -> None:
        learner = config.learner
        self.config = config
        generator_state = torch.get_rng_state()
        torch.manual_seed(config.seed)
        self.evaluator = Evaluator(*learner.widths)
        torch.set_rng_state(generator_state)
        self.average = copy.deepcopy(self.evaluator)
        self.optimizer = torch.optim.Adam(self.evaluator.parameters())
        self.shuffles = np.random.default_rng(config.seed)
        self.tables = [
            SelfPlay(table.rules, table.games, config.seed << 8 | number, learner.threads)
            for number, table in enumerate(config.tables)
        ]
        self.positions = 0
        self.seconds = 0.0
        self.error = 0.0

    def improve(self) -> None:
        """A round: play on at all tables, and learn from that; in place."""
        began = time.perf_counter()
        learner = self.config.learner
        network = self.average.network().arrays
        lessons = together(
            [
                table.teach(network, learner.steps, learner.trace, learner.exploring)
                for table in self.tables
            ]
        )
        self._learn(lessons)
        self.positions += len(lessons.counts)
        self.error = lessons.error
        self.seconds += time.perf_counter() - began

    def _learn(self, lessons: Lessons) -> None:
        """One pass over the lessons in random order."""
        learner = self.config.learner
        share = min(1.0, self.positions / self.config.total_positions)
        rate = learner.learning_rate + share * (learner.final_learning_rate - learner.learning_rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        order = self.shuffles.permutation(len(lessons.counts))
        size = learner.batch_size
        for first in range(0, len(order) - size + 1, size):
            self._update(lessons, order[first : first + size])

    def _update(self, lessons: Lessons, batch: NDArray[np.int64]) -> None:
        """A step along the gradient of the cross entropy between targets and chances."""
        counts = lessons.counts[batch]
        given = np.arange(MOST_FEATURES) < counts[:, None]
        features = torch.from_numpy(lessons.features[batch][given].astype(np.int32))
        starts = torch.from_numpy((np.cumsum(counts) - counts).astype(np.int32))
        targets = torch.from_numpy(lessons.targets[batch])
        logarithms = self.evaluator(features, starts, targets >= 0)
        loss = -(targets.clamp(min=0) * logarithms).sum(dim=1).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            share = 1 - self.config.learner.averaging
            for kept, own in zip(
                self.average.parameters(), self.evaluator.parameters(), strict=True
            ):
                kept.lerp_(own, share)

    def state(self) -> dict[str, Any]:
        """All that the next round depends on."""
        return {
            "evaluator": self.evaluator.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "shuffles": self.shuffles.bit_generator.state,
            "tables": [torch.from_numpy(table.rows) for table in self.tables],
            "positions": self.positions,
            "seconds": self.seconds,
            "error": self.error,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a `state`; in place."""
        self.evaluator.load_state_dict(state["evaluator"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.shuffles.bit_generator.state = state["shuffles"]
        for table, rows in zip(self.tables, state["tables"], strict=True):
            table.rows[:] = rows.numpy()
        self.positions, self.seconds = state["positions"], state["seconds"]
        self.error = state["error"]


def together(lessons: Sequence[Lessons]) -> Lessons:
    """The lessons of several tables as one."""
    sizes = [len(own.counts) for own in lessons]
    return Lessons(
        np.concatenate([own.features for own in lessons]),
        np.concatenate([own.counts for own in lessons]),
        np.concatenate([own.targets for own in lessons]),
        float(np.average([own.error for own in lessons], weights=sizes)),
    )


def judge(
    config: TDConfig,
    network: Network,
    games: int,
    progress: Callable[[int], None] | None = None,
    keep_in: Path | None = None,
) -> dict[str, Any]:
    """The network's results, by opponent and number of players."""
    chosen, agent = config.evaluation, Expectimax(1, network, "trained")
    results: dict[str, Any] = {}
    for players in chosen.players:
        found = evaluation.evaluate(
            agent,
            chosen.against,
            games=games,
            rules=Rules(num_players=players),
            seed=chosen.seed,
            progress=progress,
            keep_in=None if keep_in is None else keep_in / f"{players}_players",
        )
        results |= {f"{name}, {players} players": result for name, result in found.items()}
    return results


class Run:
    """A run in its folder: rounds, curve, checkpoints.

    Args:
        config: Its configuration.
        folder: Its folder; where that has a checkpoint, the run goes on from the newest.

    Raises:
        ValueError: The checkpoint cannot be read.
    """

    def __init__(self, config: TDConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.learner = Learner(config)
        self.points: list[dict[str, Any]] = []
        self.checkpoints = run_folder.Checkpoints(
            folder, config.keep_checkpoints, config.checkpoint_minutes
        )
        newest = self.checkpoints.newest()
        if newest is not None:
            self._restore(newest)

    def _restore(self, checkpoint: Path) -> None:
        try:
            state = torch.load(checkpoint / "state.pt", weights_only=True)
            self.learner.restore(state["learner"])
            self.points = state["points"]
        except Exception as error:
            raise run_folder.unreadable(checkpoint, error) from error

    def train(self, stop: StopRequest) -> None:
        """Learn up to the last position.

        Raises:
            RunStoppedError: The user asked for it; a checkpoint has been saved.
        """
        total, learner = self.config.total_positions, self.learner
        with tqdm(
            total=total,
            initial=learner.positions,
            unit=" positions",
            unit_scale=True,
            mininterval=1,
        ) as bar:
            self._measure_if_due(bar)
            while learner.positions < total:
                learner.improve()
                bar.update(learner.positions - bar.n)
                self._measure_if_due(bar)
                self.checkpoints.save_if_due(learner.positions, self._write, stop)
        self.checkpoints.save(learner.positions, self._write)  # what is left is to judge it

    def _write(self, folder: Path) -> None:
        torch.save({"learner": self.learner.state(), "points": self.points}, folder / "state.pt")

    def _measure_if_due(self, bar: tqdm) -> None:
        every, reached = self.config.evaluation.curve_every, self.learner.positions
        last = self.points[-1]["steps"] if self.points else -every
        over = reached >= self.config.total_positions and reached > last
        if not every or (reached - last < every and not over):
            return
        network = self.learner.average.network()
        results = judge(self.config, network, self.config.evaluation.curve_games)
        point = evaluation.point(reached, results)
        self.points.append(
            {**point, "minutes": self.learner.seconds / 60, "error": self.learner.error}
        )
        shown = {name: f"{own['win_rate']:.3f}" for name, own in point["against"].items()}
        bar.set_postfix(shown, refresh=False)

    def conclude(self, stop: StopRequest) -> None:
        """Judge the trained network, write it and its results, and print them.

        Raises:
            RunStoppedError: The user asked for it; the evaluation is to be done again.
        """
        results = self._final_results(stop)
        learner = self.learner
        facts = {"positions": learner.positions, "minutes": round(learner.seconds / 60, 2)}
        run_folder.write_json({**facts, "results": results}, self.folder / "evaluation.json")
        run_folder.write_json(self.points, self.folder / "learning_curve.json")
        if self.points:
            chances = [1 / players for players in self.config.evaluation.players]
            picture = self.folder / "learning_curve.png"
            curve.draw({self.config.seed: self.points}, chances, picture, steps="positions")
        about = {
            "config": as_dict(self.config) | {"run": None},
            "versions": versions() | {"torch": torch.__version__},
            **facts,
            "results": {name: brief(result) for name, result in results.items()},
        }
        learner.average.network(about).save(self.folder / "td.npz")
        print(evaluation.results_table({self.config.seed: results}))
        print(f"\n{learner.positions} positions in {facts['minutes']} minutes")
        print(f"run folder {self.folder}; the trained agent: td:{self.folder / 'td.npz'}")

    def _final_results(self, stop: StopRequest) -> dict[str, Any]:
        chosen = self.config.evaluation
        total = chosen.games * len(chosen.against) * len(chosen.players)
        with counted_games(total, "evaluated", stop) as count:
            network = self.learner.average.network()
            return judge(self.config, network, chosen.games, count, self.folder / "games")


def brief(result: dict[str, Any]) -> dict[str, Any]:
    """What is worth keeping with the weights."""
    own = result["agents"][0]
    return {
        "games": result["games"],
        "win_rate": round(own["win_rate"], 4),
        "interval": [round(end, 4) for end in own["win_rate_95"]],
    }


def main() -> int:
    """Run the command. Returns the exit code."""
    return command.run(TDConfig, "training.td", prepare, train_and_judge)


def train_and_judge(config: TDConfig, folder: Path, stop: StopRequest) -> None:
    """A whole run, or what is left of it."""
    run = Run(config, folder)
    run.train(stop)
    run.conclude(stop)


def prepare(config: TDConfig) -> None:
    """Set up PyTorch, and look whether all that the run will need is there.

    Raises:
        ValueError: An agent cannot be made.
    """
    torch.set_num_threads(config.learner.threads)
    for spec in config.evaluation.against:
        make_agent(spec)


if __name__ == "__main__":
    sys.exit(main())
