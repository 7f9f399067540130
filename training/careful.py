"""Search for the numbers of the careful agent: one command from recipe to evaluated numbers.

    python -m training.careful --config configs/careful.yaml
    python -m training.careful --resume runs/careful-…

Candidates play thousands of games each against a scripted agent, all with the same dice, and
CMA-ES draws the next candidates from the better ones. Searched for are, for each number of players,
the weights by which `careful` chooses moves, and then the values by which `expectimax` evaluates
positions, as it plays by them at depth 1; what is found is the mean of the last generation's
distribution. The values are then scaled so that the outcomes of games are likeliest.

Ctrl-C ends the run with a checkpoint; `--resume` goes on exactly as if nothing had happened.

RUN/config.yaml, versions.json    the resolved configuration; package versions and machine
RUN/checkpoints/                  step_N/state.pkl
RUN/learning_curve.json, .png     win rates by generation
RUN/careful_weights.py            the weights, as the module that `ludo_env.core` ships
RUN/evaluation.json               the results

Source: N. Hansen, "The CMA evolution strategy: a tutorial" (2016).
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray
from tqdm import tqdm

from ludo_env import Rules
from ludo_env.arena.report import aligned
from ludo_env.arena.stats import wilson
from ludo_env.core.careful import SETS
from training import command, curve, run_folder
from training.careful_config import CarefulConfig
from training.matches import (
    Values,
    Weights,
    counts_and_winners,
    fitted_scale,
    value_win_rate,
    win_rate,
)
from training.stopping import RunStoppedError, StopRequest

MODULE = '''"""What `ludo_env.core.careful` holds its sets of squares to be worth."""

from __future__ import annotations

WEIGHTS = (
{weights}
)
"""For two, three and four players: the worth of each of `careful.SETS`.

Found by ``python -m training.careful --config configs/careful.yaml``."""

VALUES = (
{values}
)
"""For two, three and four players, in logarithms of odds: what a pawn in each of `careful.SETS` is
worth, a pawn on the board, a square of progress, and to be the one about to roll.

Found by the same command."""
'''

PARTS = WEIGHTS, VALUES = ("weights", "values")

WEIGHT_AS_VALUE = 1e-4
OTHER_VALUES = (0.3, 0.01, 0.0)
"""Where the search for values starts: the weights in these units, and what weights do not have."""
VALUE_STEPS = np.array([0.1] * (len(SETS) + 1) + [0.005, 0.1])
"""A unit of the search in each of the values."""


class Search:
    """The searches, one after another, in a run's folder.

    Args:
        config: The run's configuration.
        folder: Its folder; where that has a checkpoint, the search goes on from the newest.

    Attributes:
        found: What was found, by part and number of players.
        points: The curve so far, by generation.

    Raises:
        ValueError: The checkpoint cannot be read.
    """

    def __init__(self, config: CarefulConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.found: dict[tuple[str, int], tuple[float, ...]] = {}
        self.points: dict[int, dict[str, Any]] = {}
        self._strategy: CMA | None = None
        self._checkpoints = run_folder.Checkpoints(
            folder, config.keep_checkpoints, config.checkpoint_minutes
        )
        newest = self._checkpoints.newest()
        if newest is not None:
            self._restore(newest)

    def _restore(self, checkpoint: Path) -> None:
        try:
            state = pickle.loads((checkpoint / "state.pkl").read_bytes())
            self.found, self.points, self._strategy = state
        except Exception as error:
            raise run_folder.unreadable(checkpoint, error) from error

    def _write(self, folder: Path) -> None:
        state = (self.found, self.points, self._strategy)
        (folder / "state.pkl").write_bytes(pickle.dumps(state))

    @property
    def _generation(self) -> int:
        return 0 if self._strategy is None else int(self._strategy.generation)

    @property
    def _done(self) -> int:
        return len(self.found) * self.config.search.generations + self._generation

    def run(self, stop: StopRequest) -> None:
        """Search to the end.

        Raises:
            RunStoppedError: The user asked for it; a checkpoint has been saved.
        """
        wanted = [(part, players) for players in self.config.players for part in PARTS]
        total = len(wanted) * self.config.search.generations
        with tqdm(total=total, initial=self._done, unit=" generations", mininterval=1) as bar:
            while self._done < total:
                self._improve(*wanted[len(self.found)])
                bar.update(self._done - bar.n)
                self._checkpoints.save_if_due(self._done, self._write, stop)
        self._checkpoints.save(self._done, self._write)  # what is left is to judge

    def _improve(self, part: str, players: int) -> None:
        """One generation; the last one ends the search; in place."""
        search, rules = self.config.search, Rules(num_players=players)
        if self._strategy is None:
            self._strategy = self._begun(part, players)
            self._measure_if_due(part, rules)
        dice = (self.config.seed << 16 | self._generation) + 1
        self._strategy.reseed_rng(dice % 2**32)  # a pickled strategy keeps no generator
        tried = [self._strategy.ask() for _ in range(search.population)]
        losses = [
            1 - rate(part, point, search.against, search.games, rules, dice) for point in tried
        ]
        self._strategy.tell(list(zip(tried, losses, strict=True)))
        self._measure_if_due(part, rules)
        if self._generation >= search.generations:
            self.found[part, players] = numbers_at(part, self._strategy.mean)
            self._strategy = None

    def _begun(self, part: str, players: int) -> CMA:
        """A search at its start: weights from zeros, values from the weights."""
        search = self.config.search
        start, spread = np.zeros(len(SETS)), search.spread
        if part == VALUES:
            weights = np.array(self.found[WEIGHTS, players])
            start = np.concatenate([weights * WEIGHT_AS_VALUE, OTHER_VALUES]) / VALUE_STEPS
            spread = search.value_spread
        seed, size = self.config.seed, search.population
        return CMA(start, spread, seed=seed, population_size=size)

    def _measure_if_due(self, part: str, rules: Rules) -> None:
        chosen, generation = self.config.evaluation, self._generation
        if self._strategy is None or not chosen.curve_every or generation % chosen.curve_every:
            return
        against, mean = self.config.search.against, self._strategy.mean
        result = judged(part, mean, against, chosen.curve_games, rules, chosen.seed)
        name = f"{part}, {rules.num_players} players"
        self.points.setdefault(generation, {})[name] = result

    def conclude(self, stop: StopRequest) -> None:
        """Judge what was found, write it and the results, and print them.

        Raises:
            RunStoppedError: The user asked for it; all is to be judged again.
        """
        chosen, results = self.config.evaluation, {}
        values = {players: self._scaled(players) for players in self.config.players}
        for (part, players), found in self.found.items():
            rules, point = Rules(num_players=players), np.array(found)
            point = point / VALUE_STEPS if part == VALUES else point
            for against in chosen.against:
                if stop.made:
                    raise RunStoppedError
                result = judged(part, point, against, chosen.games, rules, chosen.seed)
                results[f"{part}, {players} players, against {against}"] = result
        points = [{"steps": step, "against": own} for step, own in sorted(self.points.items())]
        run_folder.write_json(points, self.folder / "learning_curve.json")
        if points:
            chances = [1 / players for players in self.config.players]
            picture = self.folder / "learning_curve.png"
            curve.draw({self.config.seed: points}, chances, picture, steps="generations")
        run_folder.write_json({"results": results}, self.folder / "evaluation.json")
        weights = {players: self._weights(players) for players in self.config.players}
        (self.folder / "careful_weights.py").write_text(module_text(weights, values))
        print(results_table(results))
        print(f"\nrun folder {self.folder}; the numbers: {self.folder / 'careful_weights.py'}")

    def _weights(self, players: int) -> Weights:
        return rounded(self.found[WEIGHTS, players])

    def _scaled(self, players: int) -> Values:
        """The values, scaled so that the outcomes of games between the weights are likeliest."""
        chosen, rules = self.config.evaluation, Rules(num_players=players)
        weights, values = self._weights(players), np.array(self.found[VALUES, players])
        counts, winners = counts_and_winners(weights, chosen.fitting_games, rules, chosen.seed)
        return tuple(values * fitted_scale(counts @ values, winners))


def numbers_at(part: str, point: NDArray[np.float64]) -> tuple[float, ...]:
    """The weights or values at a point of the search."""
    return rounded(point) if part == WEIGHTS else tuple((point * VALUE_STEPS).tolist())


def rate(
    part: str, point: NDArray[np.float64], against: str, games: int, rules: Rules, seed: int
) -> float:
    """The win rate at a point of the search."""
    if part == WEIGHTS:
        return win_rate(rounded(point), against, games, rules, seed)
    return value_win_rate(numbers_at(part, point), against, games, rules, seed)


def judged(
    part: str, point: NDArray[np.float64], against: str, games: int, rules: Rules, seed: int
) -> dict[str, Any]:
    """A win rate and its interval."""
    won = rate(part, point, against, games, rules, seed)
    return {"games": games, "win_rate": won, "interval": list(wilson(round(won * games), games))}


def rounded(weights: Any) -> Weights:
    """Weights as integers."""
    return tuple(int(weight) for weight in np.rint(weights))


def module_text(weights: dict[int, Weights], values: dict[int, Values]) -> str:
    """The module that the core ships; numbers of players not searched for have no line."""
    rows = []
    for players in sorted(values):
        numbers = [f"        {value:.5f}," for value in values[players]]
        rows.append("\n".join(["    (", *numbers, "    ),"]))
    own = "\n".join(f"    {weights[players]}," for players in sorted(weights))
    return MODULE.format(weights=own, values="\n".join(rows))


def results_table(results: dict[str, Any]) -> str:
    """The results as text."""
    rows = [("numbers", "games", "win rate", "95 % interval")]
    for name, own in results.items():
        low, high = own["interval"]
        rows.append((name, str(own["games"]), f"{own['win_rate']:.4f}", f"{low:.4f} - {high:.4f}"))
    return aligned(rows)


def main() -> int:
    """Run the command. Returns the exit code."""
    return command.run(CarefulConfig, "training.careful", lambda _: None, search_and_judge)


def search_and_judge(config: CarefulConfig, folder: Path, stop: StopRequest) -> None:
    """A whole run, or what is left of it."""
    search = Search(config, folder)
    search.run(stop)
    search.conclude(stop)


if __name__ == "__main__":
    sys.exit(main())
