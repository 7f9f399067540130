"""What players are paid, by name and by objects of one's own, in every environment."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest

from ludo_env import Position, ludo_v0
from ludo_env.rewards import Place, Reward, Shaped, Win, as_reward

ENV_ID = "ludo_env/Ludo-v0"
PLAYERS = (2, 3, 4)
DISCOUNTS = (1.0, 0.97)


def paid(reward: Reward, *places: int) -> list[float]:
    return reward.outcome(np.array([places], dtype=np.int8))[0].tolist()


def potential(reward: Reward, position: Position) -> list[float]:
    return reward.potential(np.array([position.pawns], dtype=np.int8))[0].tolist()


def possible_places(num_players: int) -> list[tuple[int, ...]]:
    """Every ranking with one winner, in which equals share a place: 1, 2, 2, 4."""
    found = set()
    for strength in itertools.product(range(num_players), repeat=num_players):
        if strength.count(max(strength)) == 1:
            found.add(tuple(1 + sum(other > own for other in strength) for own in strength))
    return sorted(found)


def random_action(mask: np.ndarray, draw: random.Random) -> int:
    return draw.choice(np.flatnonzero(mask).tolist())


class Hundreds(Reward):
    """100 per player left behind, and a potential that counts pawns out of the yard."""

    discount = 0.5
    shapes = True

    def outcome(self, places: np.ndarray) -> np.ndarray:
        return 100.0 * (places.shape[1] - places)

    def potential(self, pawns: np.ndarray) -> np.ndarray:
        return (pawns > 0).sum(axis=2).astype(np.float64)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_win_pays_plus_one_to_the_winner_and_shares_minus_one_among_the_others(
    num_players: int,
) -> None:
    for places in possible_places(num_players):
        payments = paid(Win(), *places)
        assert payments[places.index(1)] == 1
        assert sorted(payments)[:-1] == [-1 / (num_players - 1)] * (num_players - 1)
        assert sum(payments) == pytest.approx(0)


@pytest.mark.parametrize(
    ("places", "payments"),
    [
        ((1, 2), [1, -1]),
        ((2, 1), [-1, 1]),
        ((1, 2, 3), [1, 0, -1]),
        ((2, 1, 2), [-1 / 2, 1, -1 / 2]),
        ((4, 3, 2, 1), [-1, -1 / 3, 1 / 3, 1]),
        ((1, 2, 2, 4), [1, 0, 0, -1]),
        ((1, 2, 3, 3), [1, 1 / 3, -2 / 3, -2 / 3]),
        ((2, 2, 1, 2), [-1 / 3, -1 / 3, 1, -1 / 3]),
    ],
    ids=str,
)
def test_place_pays_linearly_from_plus_one_to_minus_one_and_equals_their_mean(
    places: tuple[int, ...], payments: list[float]
) -> None:
    assert paid(Place(), *places) == pytest.approx(payments)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_place_sums_to_zero_and_pays_equals_the_mean_of_the_places_they_cover(
    num_players: int,
) -> None:
    alone = paid(Place(), *range(1, num_players + 1))
    for places in possible_places(num_players):
        payments = paid(Place(), *places)
        assert sum(payments) == pytest.approx(0)
        for place, payment in zip(places, payments, strict=True):
            covered = alone[place - 1 : place - 1 + places.count(place)]
            assert payment == pytest.approx(np.mean(covered))


def test_outcomes_of_many_games_are_paid_row_by_row() -> None:
    places = np.array(possible_places(4), dtype=np.int8)
    for reward in (Win(), Place(), Shaped()):
        together = reward.outcome(places)
        assert together.dtype == np.float64
        assert together.tolist() == [paid(reward, *row) for row in places]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_loss_is_what_a_player_is_paid_who_comes_last_alone(num_players: int) -> None:
    assert Win().loss(num_players) == -1 / (num_players - 1)
    assert Place().loss(num_players) == -1
    assert Shaped(0.9).loss(num_players) == Win().loss(num_players)
    assert Hundreds().loss(num_players) == 0


def test_rewards_are_found_by_name_and_objects_are_taken_as_they_are() -> None:
    assert [type(as_reward(name)) for name in ("win", "place", "shaped")] == [Win, Place, Shaped]
    assert as_reward("shaped").discount == 1
    own = Hundreds()
    assert as_reward(own) is own


@pytest.mark.parametrize("reward", ["", "Win", "wins", None, 1, Win, ["win"]], ids=repr)
def test_anything_else_is_refused_as_a_reward_by_name(reward: Any) -> None:
    for make in (
        lambda: as_reward(reward),
        lambda: ludo_v0.raw_env(reward=reward),
        lambda: gymnasium.make(ENV_ID, reward=reward),
        lambda: gymnasium.make_vec(
            ENV_ID, num_envs=2, vectorization_mode="vector_entry_point", reward=reward
        ),
    ):
        with pytest.raises(ValueError, match="reward must be one of 'win', 'place', 'shaped'"):
            make()


@pytest.mark.parametrize("discount", [1, 0.5, np.float32(0.5), 1e-9])
def test_shaping_takes_a_discount_above_zero_and_at_most_one(discount: Any) -> None:
    assert Shaped(discount).discount == pytest.approx(float(discount))
    assert Shaped(discount=discount).discount == Shaped(discount).discount


@pytest.mark.parametrize(
    "discount",
    [0, 0.0, -0.5, 1.01, float("nan"), float("inf"), "0.9", None, True, [0.9]],
    ids=repr,
)
def test_shaping_refuses_any_other_discount(discount: Any) -> None:
    with pytest.raises(ValueError, match="discount must be "):
        Shaped(discount)


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("num_pawns", [1, 2, 4])
def test_the_potential_compares_distances_and_sums_to_zero_over_the_players(
    num_players: int, num_pawns: int
) -> None:
    level = Position(((0,) * num_pawns,) * num_players, 0)
    assert potential(Shaped(), level) == [0] * num_players
    ahead = Position(((30,) + (0,) * (num_pawns - 1), *level.pawns[1:]), 0)
    first, *others = potential(Shaped(), ahead)
    assert first > 0 > max(others)
    assert others == [others[0]] * len(others)
    assert first + sum(others) == pytest.approx(0)


def test_a_player_whose_pawns_are_all_home_while_nobody_else_has_moved_has_potential_one() -> None:
    home = Position(((44, 43, 42, 41),) + ((0,) * 4,) * 3, 0)
    assert potential(Shaped(), home) == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])


class Told:
    """What one agent was told: Φ at each of its decisions, and what it got until the next."""

    def __init__(self) -> None:
        self.potentials: list[float] = []
        self.rewards: list[float] = []
        self.truncated = False

    @property
    def decided(self) -> bool:
        return bool(self.potentials)

    def discounted(self, discount: float) -> float:
        return sum(discount**t * reward for t, reward in enumerate(self.rewards))


def aec_episode(env: Any, seed: int, discount: float) -> dict[str, Told]:
    """Play random moves to the end; rewards as ``last()`` tells them."""
    told: dict[str, Told] = defaultdict(Told)
    draw = random.Random(seed)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        own = told[agent]
        if own.decided:
            own.rewards.append(reward)
        elif not (terminated or truncated):
            assert reward == 0  # nothing is paid before an agent's first decision
        if terminated or truncated:
            own.truncated = truncated
            env.step(None)
            continue
        number = int(agent[-1])
        position = env.unwrapped.game.position
        own.potentials.append(potential(Shaped(discount), position)[number])
        env.step(random_action(info["action_mask"], draw))
    return told


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_players": 2},
        {"num_players": 3, "auto_forced": True},
        {"num_players": 4, "num_pawns": 2},
    ],
    ids=str,
)
def test_an_agents_discounted_shaping_is_the_discounted_win_less_its_first_potential(
    kwargs: dict[str, Any], discount: float
) -> None:
    env = ludo_v0.env(reward=Shaped(discount), **kwargs)
    for seed in range(3):
        for agent, told in aec_episode(env, seed, discount).items():
            won = agent == f"player_{env.unwrapped.game.winner}"
            payment = 1.0 if won else Win().loss(kwargs["num_players"])
            expected = discount ** (len(told.rewards) - 1) * payment - told.potentials[0]
            assert told.discounted(discount) == pytest.approx(expected)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_a_truncated_agents_discounted_shaping_keeps_the_last_potential(discount: float) -> None:
    env = ludo_v0.env(num_players=3, reward=Shaped(discount), max_rolls=200)
    told = aec_episode(env, 5, discount)
    last = potential(Shaped(discount), env.unwrapped.game.position)
    assert any(abs(value) > 0.01 for value in last)
    for agent, own in told.items():
        assert own.truncated
        kept = discount ** len(own.rewards) * last[int(agent[-1])]
        assert own.discounted(discount) == pytest.approx(kept - own.potentials[0])


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_between_two_decisions_an_agent_is_paid_the_change_of_its_potential(
    discount: float,
) -> None:
    told = aec_episode(ludo_v0.env(num_players=2, reward=Shaped(discount)), 1, discount)
    for own in told.values():
        changes = [discount * b - a for a, b in itertools.pairwise(own.potentials)]
        assert own.rewards[:-1] == pytest.approx(changes)
        assert any(change != 0 for change in changes)


def test_an_agent_without_a_decision_of_its_own_gets_the_outcome_alone() -> None:
    env = ludo_v0.env(num_players=2, reward="shaped")
    env.reset(options={"position": "44.43.42.40/7.0.0.0 0 1"})
    env.step(3)
    assert env.unwrapped.game.winner == 0
    assert env.unwrapped._cumulative_rewards["player_1"] == -1


@pytest.mark.parametrize("reward", ["win", "place"])
def test_before_the_end_and_at_truncation_unshaped_rewards_are_zero(reward: str) -> None:
    env = ludo_v0.env(reward=reward, max_rolls=150)
    env.reset(seed=3)
    draw = random.Random(3)
    for _ in env.agent_iter():
        _, payment, _, truncated, info = env.last()
        assert payment == 0
        assert set(env.rewards.values()) == {0}
        env.step(None if truncated else random_action(info["action_mask"], draw))


def test_a_reward_of_ones_own_pays_in_the_aec_environment() -> None:
    env = ludo_v0.env(num_players=3, reward=Hundreds())
    env.reset(seed=0, options={"dice": [6, 1]})
    env.step(0)  # out of the yard: one pawn, where there was none
    assert env.last()[1] == 0.5 * 1 - 0
    env.reset(options={"position": "44.43.42.40/5.0.0.0/0.0.0.0 0 1"})
    env.step(3)
    assert env.unwrapped._cumulative_rewards == {
        "player_0": 200 - 4,
        "player_1": 100,
        "player_2": 0,
    }


def test_a_reward_of_ones_own_pays_in_the_single_environment() -> None:
    env = gymnasium.make(ENV_ID, num_players=3, reward=Hundreds(), opponents="first")
    env.reset(seed=0, options={"dice": [6, 1]})
    assert env.step(0)[1] == 0.5 * 1 - 0
    env.reset(options={"position": "44.43.42.40/5.0.0.0/0.0.0.0 0 1"})
    _, reward, terminated, _, info = env.step(3)
    assert terminated
    assert info["place"] == 1
    assert reward == 200 - 4
    env.reset(options={"position": "44.43.42.40/5.0.0.0/0.0.0.0 0 1"})
    _, reward, terminated, _, info = env.step(7)
    assert info["illegal_action"]
    assert reward == 0 - 4  # the loss, and a potential that ends at 0


def test_a_reward_of_ones_own_pays_in_the_vector_environment() -> None:
    env = gymnasium.make_vec(
        ENV_ID,
        num_envs=3,
        vectorization_mode="vector_entry_point",
        num_players=3,
        reward=Hundreds(),
        opponents="first",
    )
    env.reset(seed=0, options={"dice": [6, 1]})
    assert env.step([0, 0, 7])[1].tolist() == [0.5, 0.5, 0]
    env.reset(options={"position": "44.43.42.40/5.0.0.0/0.0.0.0 0 1"})
    assert env.step([3, 3, 7])[1].tolist() == [196, 196, -4]
