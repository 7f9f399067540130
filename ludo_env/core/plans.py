"""Kernels that write and follow plans: what a player does in every position of two players.

A plan is uint16 (N, N), by the mover's board and the other's: two bits for each die, the number of
the move among those that `boards.Tables` lists. Entries mean nothing where no move is possible.
"""

from __future__ import annotations

import numpy as np

from ludo_env.core.bits import popcount
from ludo_env.core.careful import choose_carefully, weights_for
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import TRACK, choices, destination_of, turned
from ludo_env.core.moves import OPPOSITE, board_choices
from ludo_env.core.reach import threats_of
from ludo_env.core.rows import block_of, row_of
from ludo_env.core.scripted import CAREFUL, choose
from ludo_env.core.sweep import (
    PLAN_BITS,
    best_chance,
    chance_after,
    legal_and_held,
    others_of,
    planned,
)


@compiled
def number_of(moves, move):
    """Which of the moves one is, the most advanced pawn's first."""
    return popcount(moves & -(move << 1))


@compiled
def note(plan, j, die, number):
    """Write a move's number into a row of a plan that has none there yet; in place."""
    plan[j] |= np.uint16(number << PLAN_BITS * die)


@compiled
def write_scripted_plan(policy, boards, bits, plan, rules):
    """Write the plan of a scripted policy that draws nothing, for some boards (k,) of the mover."""
    for i in boards:
        row = row_of(plan, i)
        for die in range(6):
            moves = board_choices(bits[i], die + 1, rules)
            if popcount(moves) < 2:
                continue
            for j in range(len(bits)):
                opponents = turned(bits[j] & TRACK, OPPOSITE)
                legal = choices(moves, opponents, rules)
                if policy == CAREFUL:
                    soon, later = threats_of(bits[j], rules)
                    threats = turned(soon, OPPOSITE), turned(later, OPPOSITE)
                    weights = weights_for(rules)
                    move = choose_carefully(legal, die + 1, opponents, threats, weights)
                else:
                    move = choose(policy, 0, 0, legal, opponents)
                note(row, j, die, number_of(moves, move))


@compiled
def write_greedy_plan(rolls, waits, slack, boards, tables, plan, rules):
    """Write the plan that takes the best chance, for some boards (k,) of the mover.

    Args:
        rolls: (N, N), the mover's chances where it is about to roll.
        waits: (N, N), the same where the other is.
        slack: Moves that are worse by this much at most are as good; the first of them is taken.
        boards: int64 (k,).
        tables: `boards.Tables`.
        plan: The plan, zeros so far.
        rules: `CompiledRules`.
    """
    rolls, waits = block_of(rolls, 0, len(rolls)), block_of(waits, 0, len(waits))
    bits, count, target, square = tables.bits, tables.choices, tables.target, tables.square
    others = others_of(tables)
    for i in boards:
        row = row_of(plan, i)
        for die in range(6):
            number = np.int64(count[i, die])
            if number < 2:
                continue
            moves = (
                rolls if die == 5 else waits,
                row_of(row_of(target, i), die),
                row_of(row_of(square, i), die),
                number,
            )
            for j in range(len(bits)):
                note(row, j, die, best_move(moves, j, others, slack, rules))


@compiled
def best_move(moves, opposing, others, slack, rules):
    """The number of the first move whose chance is the best or short of it by ``slack`` at most."""
    legal, held = legal_and_held(moves, opposing, others, rules)
    highest = best_chance(moves, opposing, others, rules)
    best = -1
    for k in range(moves[-1]):
        if best < 0 and legal >> k & 1:
            chance = chance_after(moves, k, held >> k & 1, opposing, others)
            best = k if chance >= highest - slack else best
    return best


@compiled
def note_actions(numbers, others, dice, actions, bits, plan, rules):
    """Write legal actions (k,) of positions (k,) into a plan.

    Args:
        numbers: int64 (k,), the mover's boards.
        others: int64 (k,), the other's.
        dice: int64 (k,), 1 … 6.
        actions: int64 (k,).
        bits: int64 (N,), the boards.
        plan: The plan, zeros so far.
        rules: `CompiledRules`.
    """
    for k in range(len(numbers)):
        own, die = bits[numbers[k]], dice[k]
        moves = board_choices(own, die, rules)
        move = destination_of(own, actions[k], die) & moves
        note(row_of(plan, numbers[k]), others[k], die - 1, number_of(moves, move))


@compiled
def write_forced(numbers, others, bits, open_dice, plan, rules):
    """Write the moves that leave no choice into a plan, and mark where there is one.

    Pairs of boards that cannot be, with two pawns on a square or two winners, have no choice.

    Args:
        numbers: int64 (k,), the mover's boards.
        others: int64 (k,), the other's.
        bits: int64 (N,), the boards.
        open_dice: bool (k, 6), receives whether the mover may choose.
        plan: The plan, zeros so far.
        rules: `CompiledRules`.
    """
    last = len(bits) - 1
    for k in range(len(numbers)):
        i, j = numbers[k], others[k]
        opponents = turned(bits[j] & TRACK, OPPOSITE)
        possible = i < last and j < last and bits[i] & opponents == 0
        for die in range(6):
            moves = board_choices(bits[i], die + 1, rules)
            legal = choices(moves, opponents, rules)
            open_dice[k, die] = possible and popcount(legal) > 1
            if popcount(legal) == 1:
                note(row_of(plan, i), j, die, number_of(moves, legal))


@compiled
def push_visits(plan, visits, arrivals, level, groups, tables):
    """Play a level's arrivals on by a plan that both players share; in place.

    Args:
        plan: The plan.
        visits: float64 (N, N), receives how often the roller comes to roll in each position.
        arrivals: float64 (N, N), how often a position has been reached and not yet played on.
        level: The sum of both groups' numbers.
        groups: int64 (k,), the level's groups of the roller's board.
        tables: `Tables`.
    """
    first = tables.first
    for group in groups:
        for i in range(first[group], first[group + 1]):
            for j in range(first[level - group], first[level - group + 1]):
                if i <= j:
                    push_pair(plan, visits, arrivals, i, j, tables)


@compiled
def push_pair(plan, visits, arrivals, i, j, tables):
    """Play on from a position and the one that a pass leads to (R6); in place."""
    here, there = arrivals[i, j], arrivals[j, i]
    if here == 0 and there == 0:
        return
    pass_i, pass_j = tables.passes[i] / tables.total[i], tables.passes[j] / tables.total[j]
    arrivals[i, j] = arrivals[j, i] = 0
    push(plan, visits, arrivals, i, j, (here + pass_j * there) / (1 - pass_i * pass_j), tables)
    if i != j:
        push(plan, visits, arrivals, j, i, (there + pass_i * here) / (1 - pass_i * pass_j), tables)


@compiled
def push(plan, visits, arrivals, i, j, times, tables):
    """Play on from a position that is visited so many times; in place."""
    visits[i, j] += times
    won = len(tables.bits) - 1
    for die in range(6):
        if tables.choices[i, die] == 0:
            continue
        k = planned(plan[i, j], die) if tables.choices[i, die] > 1 else 0
        after, square = np.int64(tables.target[i, die, k]), np.int64(tables.square[i, die, k])
        left = np.int64(tables.without[square, j]) if square >= 0 else -1
        other = left if left >= 0 else j
        share = times * tables.weight[i, die] / tables.total[i]
        if after != won:
            if die == 5:
                arrivals[after, other] += share
            else:
                arrivals[other, after] += share
