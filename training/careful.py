"""Search for the weights of the careful agent: one command from recipe to evaluated weights.

    python -m training.careful --config configs/careful.yaml
    python -m training.careful --resume runs/careful-…

Candidates play thousands of games each against a scripted agent, all with the same dice, and
CMA-ES draws the next candidates from the better ones. The weights found are the mean of the last
generation's distribution, rounded. Ctrl-C ends the run with a checkpoint; `--resume` goes on
exactly as if nothing had happened.

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
import time
from pathlib import Path
from typing import Any

import numpy as np
from cmaes import CMA
from tqdm import tqdm

from ludo_env import Rules
from ludo_env.arena.report import aligned
from ludo_env.arena.stats import wilson
from ludo_env.core.careful import SETS
from training import curve, run_folder
from training.careful_config import CarefulConfig
from training.config import BAD_ARGUMENTS, fail, parse
from training.matches import Weights, counts_and_winners, fitted, win_rate
from training.stopping import INTERRUPTED, RunStoppedError, StopRequest, conduct

MODULE = '''"""What `ludo_env.core.careful` holds its sets of squares to be worth."""

from __future__ import annotations

WEIGHTS = (
{weights}
)
"""For two, three and four players: the worth of each of `careful.SETS`, and of a capture.

Found by ``python -m training.careful --config configs/careful.yaml``."""

VALUES = (
{values}
)
"""For two, three and four players, in logarithms of odds: what a pawn in each of `careful.SETS` is
worth, a pawn on the board, a square of progress, and to be the one about to roll.

Fitted by the same command to the outcomes of games between the weights."""
'''


class Search:
    """The searches for all numbers of players, one after another, in a run's folder.

    Args:
        config: The run's configuration.
        folder: Its folder; where that has a checkpoint, the search goes on from the newest.

    Attributes:
        found: Weights by number of players.
        points: The curve so far, by generation.

    Raises:
        ValueError: The checkpoint cannot be read.
    """

    def __init__(self, config: CarefulConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.found: dict[int, Weights] = {}
        self.points: dict[int, dict[str, Any]] = {}
        self._strategy: CMA | None = None
        self._checkpoints = run_folder.Checkpoints(folder, config.keep_checkpoints)
        newest = self._checkpoints.newest()
        if newest is not None:
            self._restore(newest)

    def _restore(self, checkpoint: Path) -> None:
        try:
            state = pickle.loads((checkpoint / "state.pkl").read_bytes())
            self.found, self.points, self._strategy = state
        except Exception as error:  # whatever a damaged file provokes
            message = f"checkpoint {checkpoint} cannot be read ({error!r}); delete it to go on from"
            raise ValueError(f"{message} the one before") from error

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
        saved_at = time.monotonic()
        total = len(self.config.players) * self.config.search.generations
        with tqdm(total=total, initial=self._done, unit=" generations", mininterval=1) as bar:
            for players in self.config.players:
                while players not in self.found:
                    self._improve(Rules(num_players=players))
                    bar.update(self._done - bar.n)
                    due = time.monotonic() - saved_at > 60 * self.config.checkpoint_minutes
                    asked_to_stop = stop.made
                    if due or asked_to_stop:
                        self._checkpoints.save(self._done, self._write)
                        saved_at = time.monotonic()
                    if asked_to_stop:
                        raise RunStoppedError
        self._checkpoints.save(self._done, self._write)  # what is left is to judge

    def _improve(self, rules: Rules) -> None:
        """One generation; the last one ends the search for this number of players."""
        search = self.config.search
        if self._strategy is None:
            self._strategy = CMA(
                np.zeros(len(SETS) + 1),
                search.spread,
                seed=self.config.seed,
                population_size=search.population,
            )
            self._measure_if_due(rules)
        dice = (self.config.seed << 16 | self._generation) + 1
        tried = [self._strategy.ask() for _ in range(search.population)]
        losses = [
            1 - win_rate(rounded(weights), search.against, search.games, rules, dice)
            for weights in tried
        ]
        self._strategy.tell(list(zip(tried, losses, strict=True)))
        self._measure_if_due(rules)
        if self._generation >= search.generations:
            self.found[rules.num_players] = rounded(self._strategy.mean)
            self._strategy = None

    def _measure_if_due(self, rules: Rules) -> None:
        chosen, generation = self.config.evaluation, self._generation
        if self._strategy is None or not chosen.curve_every or generation % chosen.curve_every:
            return
        weights, against = rounded(self._strategy.mean), self.config.search.against
        result = judged(weights, against, chosen.curve_games, rules, chosen.seed)
        name = f"{against}, {rules.num_players} players"
        self.points.setdefault(generation, {})[name] = result

    def conclude(self) -> None:
        """Judge the weights, write them and the results, and print them."""
        chosen, results, values = self.config.evaluation, {}, {}
        for players, weights in self.found.items():
            rules = Rules(num_players=players)
            for against in chosen.against:
                name = f"{against}, {players} players"
                results[name] = judged(weights, against, chosen.games, rules, chosen.seed)
            positions = counts_and_winners(weights, chosen.fitting_games, rules, chosen.seed)
            values[players] = fitted(*positions)
        points = [{"steps": step, "against": own} for step, own in sorted(self.points.items())]
        run_folder.write_json(points, self.folder / "learning_curve.json")
        if points:
            chances = [1 / players for players in self.config.players]
            picture = self.folder / "learning_curve.png"
            curve.draw({self.config.seed: points}, chances, picture, steps="generations")
        facts = {"weights": self.found, "values": values, "results": results}
        run_folder.write_json(facts, self.folder / "evaluation.json")
        (self.folder / "careful_weights.py").write_text(module_text(self.found, values))
        print(results_table(results))
        print(f"\nrun folder {self.folder}; the weights: {self.folder / 'careful_weights.py'}")


def judged(weights: Weights, against: str, games: int, rules: Rules, seed: int) -> dict[str, Any]:
    """A win rate and its interval."""
    rate = win_rate(weights, against, games, rules, seed)
    return {"games": games, "win_rate": rate, "interval": list(wilson(round(rate * games), games))}


def rounded(weights: Any) -> Weights:
    """Weights as integers."""
    return tuple(int(weight) for weight in np.rint(weights))


def module_text(found: dict[int, Weights], values: dict[int, list[float]]) -> str:
    """The module that the core ships; numbers of players not searched for have no line."""
    weights = "\n".join(f"    {found[players]}," for players in sorted(found))
    rows = []
    for players in sorted(values):
        numbers = [f"        {value:.4f}," for value in values[players]]
        rows.append("\n".join(["    (", *numbers, "    ),"]))
    return MODULE.format(weights=weights, values="\n".join(rows))


def results_table(results: dict[str, Any]) -> str:
    """The results as text."""
    rows = [("against", "games", "win rate", "95 % interval")]
    for name, own in results.items():
        low, high = own["interval"]
        rows.append((name, str(own["games"]), f"{own['win_rate']:.4f}", f"{low:.4f} - {high:.4f}"))
    return aligned(rows)


def main() -> int:
    """Run the command. Returns the exit code."""
    try:
        config, folder = parse(CarefulConfig, "training.careful")
        if folder is None:
            folder = run_folder.create(config)
    except ValueError as error:
        fail(BAD_ARGUMENTS, str(error))
    except KeyboardInterrupt:
        fail(INTERRUPTED, "stopped before the search began")
    return conduct("training.careful", folder, lambda stop: search_and_judge(config, folder, stop))


def search_and_judge(config: CarefulConfig, folder: Path, stop: StopRequest) -> None:
    """A whole run, or what is left of it."""
    search = Search(config, folder)
    search.run(stop)
    search.conclude()


if __name__ == "__main__":
    sys.exit(main())
