"""Ratings by maximum likelihood: what they are does not depend on the order of games.

A ranking is seen as choices: first who comes first, then who comes next among the rest, and so on.
Of those left, a group that shares a place is chosen in proportion to the geometric mean of its
members' strengths times a parameter of the group's size, which is 1 for a single one. Without ties
that is the model of Plackett and Luce, with two players that of Bradley and Terry, with two and
ties Davidson's. On the logarithms the likelihood is concave; Newton's method finds its top.

Sources: R. Luce, "Individual choice behavior" (1959); R. Plackett, "The analysis of permutations",
Applied Statistics 24 (1975); R. Davidson, "On extending the Bradley-Terry model to accommodate
ties", Journal of the American Statistical Association 65 (1970); H. Turner, J. van Etten, D. Firth,
I. Kosmidis, "Modelling rankings in R: the PlackettLuce package", Computational Statistics 35
(2020). Intervals: H. White, "Maximum likelihood estimation of misspecified models", Econometrica 50
(1982), with blocks of games as what is independent.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from ludo_env.arena.stats import Interval, quantile
from ludo_env.core.checks import Ints

ELO = 400 / math.log(10)
"""Points for each factor e of strength: 400 points are odds of ten to one."""

Floats = NDArray[np.float64]
Group = tuple[int, ...]

_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True)
class Ratings:
    """How strong agents are, on the scale of Elo's ratings.

    Attributes:
        points: float64 (A,); the anchor has 0.
        intervals: Of each agent's difference from the anchor.
    """

    points: Floats
    intervals: tuple[Interval, ...]


def rate(
    agents: Ints, places: Ints, blocks: Ints, anchor: int = 0, confidence: float = 0.95
) -> Ratings:
    """Rate agents by the places of some games.

    Args:
        agents: Who played, int64 (N, P); 0 to A − 1.
        places: Their places, int64 (N, P); equals share one.
        blocks: Games of the same block depend on each other, int64 (N,).
        anchor: The agent that has 0 points.
        confidence: Of the intervals.

    Raises:
        ValueError: The likelihood has no top: some agents were never behind any of the others.
    """
    if len(agents) == 0:
        raise ValueError("games must be at least one to rate agents")
    count = int(agents.max()) + 1
    _refuse_split(agents, places, count)
    rankings = [ranking(*game) for game in zip(agents.tolist(), places.tolist(), strict=True)]
    largest = max(len(group) for own in rankings for group in own)
    model = _Model(count, largest, anchor)
    strengths = model.fit(Counter(rankings))
    covariance = model.covariance(strengths, rankings, blocks)
    errors = np.sqrt(np.diag(covariance)[:count])
    half = quantile(confidence) * errors * ELO
    points = (strengths[:count] - strengths[anchor]) * ELO
    pairs = zip((points - half).tolist(), (points + half).tolist(), strict=True)
    return Ratings(points, tuple(Interval(*pair) for pair in pairs))


def ranking(agents: Sequence[int], places: Sequence[int]) -> tuple[Group, ...]:
    """Who shares a place with whom, the first place first."""
    shared = defaultdict(list)
    for agent, place in zip(agents, places, strict=True):
        shared[place].append(agent)
    return tuple(tuple(sorted(shared[place])) for place in sorted(shared))


def _refuse_split(agents: Ints, places: Ints, count: int) -> None:
    """Refuse results that part agents in two, the ones never behind the others."""
    ahead = np.eye(count, dtype=np.bool_)
    for i, j in permutations(range(agents.shape[1]), 2):
        not_behind = places[:, i] <= places[:, j]
        ahead[agents[not_behind, i], agents[not_behind, j]] = True
    for _ in range(max(1, math.ceil(math.log2(count)))):
        ahead = ahead @ ahead
    if not ahead.all():
        raise ValueError("agents cannot be rated: some were never behind or level with the others")


class _Model:
    """The likelihood of rankings; parameters are logarithms of strengths, then of groups' sizes.

    Args:
        count: Number of agents A.
        largest: The largest group that shares a place.
        anchor: The agent whose parameter stays 0.
    """

    def __init__(self, count: int, largest: int, anchor: int) -> None:
        self._count = count
        self._largest = largest
        self._free = np.array([i for i in range(count + largest - 1) if i != anchor])
        self._groups: dict[Group, list[Group]] = {}

    def fit(self, rankings: Counter[tuple[Group, ...]]) -> Floats:
        """The parameters that make the rankings likeliest.

        Raises:
            ValueError: There are none.
        """
        choices: dict[Group, Counter[Group]] = defaultdict(Counter)
        for own, times in rankings.items():
            for left, chosen in stages(own):
                choices[left][chosen] += times
        parameters = np.zeros(self._count + self._largest - 1)
        for _ in range(_STEPS):
            gradient, information = self._derivatives(parameters, choices)
            try:
                step = np.linalg.solve(information, gradient)
            except np.linalg.LinAlgError:
                break
            parameters[self._free] += step * min(1.0, 2.0 / np.abs(step).max(initial=1e-300))
            if np.abs(step).max(initial=0.0) < _CLOSE:
                return parameters
        raise ValueError("agents cannot be rated: the likelihood has no top")

    def _derivatives(
        self, parameters: Floats, choices: dict[Group, Counter[Group]]
    ) -> tuple[Floats, Floats]:
        """The gradient of the logarithm of the likelihood, and its negative second derivatives."""
        size = len(parameters)
        gradient, information = np.zeros(size), np.zeros((size, size))
        for left, chosen in choices.items():
            groups, seen, chances = self._chances(parameters, left)
            counts = np.array([chosen[group] for group in groups], dtype=np.float64)
            mean = chances @ seen
            gradient += counts @ seen - counts.sum() * mean
            second = seen.T @ (chances[:, None] * seen) - np.outer(mean, mean)
            information += counts.sum() * second
        return gradient[self._free], information[np.ix_(self._free, self._free)]

    def _chances(self, parameters: Floats, left: Group) -> tuple[list[Group], Floats, Floats]:
        """The groups that may come next, what their logarithms are made of, and their chances."""
        if left not in self._groups:
            sizes = range(1, min(self._largest, len(left)) + 1)
            self._groups[left] = [g for size in sizes for g in combinations(left, size)]
        groups = self._groups[left]
        seen = np.zeros((len(groups), len(parameters)))
        for row, group in enumerate(groups):
            seen[row, list(group)] = 1 / len(group)
            if len(group) > 1:
                seen[row, self._count + len(group) - 2] = 1.0
        logarithms = seen @ parameters
        weights = np.exp(logarithms - logarithms.max())
        return groups, seen, weights / weights.sum()

    def covariance(
        self, parameters: Floats, rankings: Sequence[tuple[Group, ...]], blocks: Ints
    ) -> Floats:
        """The parameters' covariance where blocks of games are independent; 0 for the anchor's."""
        choices: dict[Group, Counter[Group]] = defaultdict(Counter)
        scores: dict[tuple[Group, ...], Floats] = {}
        for own, times in Counter(rankings).items():
            scores[own] = np.zeros(len(parameters))
            for left, chosen in stages(own):
                choices[left][chosen] += times
                groups, seen, chances = self._chances(parameters, left)
                scores[own] += seen[groups.index(chosen)] - chances @ seen
        _, information = self._derivatives(parameters, choices)
        number = np.unique(blocks, return_inverse=True)[1]
        sums = np.zeros((number.max() + 1, len(parameters)))
        np.add.at(sums, number, np.array([scores[own] for own in rankings]))
        spread = sums[:, self._free].T @ sums[:, self._free]
        inverse = np.linalg.inv(information)
        whole = np.zeros((len(parameters), len(parameters)))
        whole[np.ix_(self._free, self._free)] = inverse @ spread @ inverse
        return whole


def stages(groups: tuple[Group, ...]) -> list[tuple[Group, Group]]:
    """The choices that a ranking is made of: who is left, and the group that comes next."""
    found = []
    for i, chosen in enumerate(groups[:-1]):
        left = tuple(sorted(agent for group in groups[i:] for agent in group))
        found.append((left, chosen))
    if len(groups[-1]) > 1:
        found.append((groups[-1], groups[-1]))
    return found
