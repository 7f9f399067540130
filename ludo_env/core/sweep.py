"""Kernels of value iteration over all positions of two players.

A `Side` has two tables (N, N) of its own chances to win, indexed by its board and the other's:
``rolls`` where it is about to roll, ``waits`` where the other is. Chances are integers from 0 to
``one``, rounded down or up, so that what starts as a bound stays one. A turn's moves lead to the
side's own ``waits``, or to its ``rolls`` after a 6 (R8), and every row of opposing boards lies
contiguous in both.

Positions are taken by level, the sum of both distances, from the highest down. A move alone leads
to a higher level, already done; only captures lead back. A turn that passes (R6) leads to the same
level: the two positions that pass to each other are solved together.

Two tuples are handed on. The mover's ``moves`` with a die: the table that they lead to, the boards
and squares of `Tables.target` and ``square``, and how many they are. And ``others``, what is to
know of the other's boards: `Tables.bits`, ``without``, ``captures`` and ``first_capture``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.bits import popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import choices
from ludo_env.core.rows import block_of, row_of

BEST, UNIFORM, PLANNED = range(3)
"""How a side plays: perfectly, any legal move with the same chance, or by its plan."""

PLAN_BITS = 2
PLAN_MASK = (1 << PLAN_BITS) - 1


class Side(NamedTuple):
    """One player of a duel.

    Attributes:
        rolls: (N, N) integers, its chance to win where it is about to roll.
        waits: (N, N) integers, the same where the other is.
        play: How it plays.
        plan: uint16 (N, N), for each die two bits, the number of the move it plays among those of
            `Tables.target`; (1, 1) where it plays by none.
        up: Whether chances are rounded up, else down.
    """

    rolls: NDArray[Any]
    waits: NDArray[Any]
    play: int
    plan: NDArray[np.uint16]
    up: bool


@compiled
def planned(plan, die):
    """The number of the move that an entry of a plan names for a die (0 … 5)."""
    return np.int64(plan) >> PLAN_BITS * die & PLAN_MASK


@compiled
def quotient(total, number, up):
    """A division that rounds up or down."""
    return (total + (number - 1 if up else 0)) // number


@compiled
def squares_held(bits, squares, count):
    """On which moves' squares the opposing board has a pawn: move ``k`` as bit ``k``."""
    held = 0
    for k in range(count):
        if squares[k] >= 0:
            held |= (bits >> np.int64(squares[k]) & 1) << k
    return held


@compiled
def others_of(tables):
    """The tuple ``others``, borrowed: to hand it on counts no references (see `rows`)."""
    bits, without = tables.bits, tables.without
    captures, first_capture = tables.captures, tables.first_capture
    return (
        block_of(bits, 0, len(bits)),
        block_of(without, 0, len(without)),
        block_of(captures, 0, len(captures)),
        block_of(first_capture, 0, len(first_capture)),
    )


@compiled
def legal_and_held(moves, opposing, others, rules):
    """Which moves are legal against a board (R14), and which capture: move ``k`` as bit ``k``."""
    _, _, squares, count = moves
    bits, _, _, _ = others
    held = squares_held(bits[opposing], squares, count)
    return choices((1 << count) - 1, held, rules), held


@compiled
def chance_after(moves, k, capturing, opposing, others):
    """The mover's chance after one move against a board."""
    table, targets, squares, _ = moves
    _, without, _, _ = others
    after = np.int64(row_of(without, np.int64(squares[k]))[opposing]) if capturing else opposing
    return np.int64(row_of(table, np.int64(targets[k]))[after])


@compiled
def best_chance(moves, opposing, others, rules):
    """The mover's chance against a board with its best legal move."""
    legal, held = legal_and_held(moves, opposing, others, rules)
    best = np.int64(0)
    for k in range(moves[-1]):
        if legal >> k & 1:
            best = max(best, chance_after(moves, k, held >> k & 1, opposing, others))
    return best


@compiled
def mean_chance(moves, opposing, others, up, rules):
    """The mover's chance against a board with any legal move, all equally likely."""
    legal, held = legal_and_held(moves, opposing, others, rules)
    total = np.int64(0)
    for k in range(moves[-1]):
        if legal >> k & 1:
            total += chance_after(moves, k, held >> k & 1, opposing, others)
    return quotient(total, popcount(legal), up)


@compiled
def raise_to(row, chances):
    """Take the larger of each; in place."""
    for x in range(len(chances)):
        chances[x] = max(chances[x], row[x])


@compiled
def raise_captures(row, captures, begin, chances):
    """`raise_to` where the mover captures."""
    for h in range(len(captures)):
        pair = row_of(captures, h)
        x = np.int64(pair[0]) - begin
        chances[x] = max(chances[x], row[np.int64(pair[1])])


@compiled
def clear_captures(captures, begin, chances):
    """Set the chances to 0 where the mover captures."""
    for h in range(len(captures)):
        chances[np.int64(row_of(captures, h)[0]) - begin] = 0


@compiled
def captures_by(moves, k, group, others):
    """The captures of one move among a group's boards: a block of `Tables.captures`."""
    square = np.int64(moves[2][k])
    _, _, captures, first_capture = others
    ends = row_of(first_capture, square)
    if square < 0:
        return block_of(row_of(captures, 0), 0, 0)
    return block_of(row_of(captures, square), ends[group], ends[group + 1])


@compiled
def row_part(table, board, begin, width):
    """A part of a board's row."""
    return block_of(row_of(table, np.int64(board)), begin, begin + width)


@compiled
def write_first(moves, begin, chances):
    """Write the mover's chances (W,) after its first move, captures left aside."""
    row = row_part(moves[0], moves[1][0], begin, len(chances))
    for x in range(len(chances)):
        chances[x] = row[x]


@compiled
def write_best(moves, others, group, begin, chances, rules):
    """Write the mover's chances (W,) against a group's boards if it plays its best move."""
    table, targets, _, count = moves
    write_first(moves, begin, chances)
    for k in range(1, count):
        raise_to(row_part(table, targets[k], begin, len(chances)), chances)
    if choices((1 << count) - 1, 1, rules) == 1:  # who captures may do nothing else (R14)
        for k in range(count):
            clear_captures(captures_by(moves, k, group, others), begin, chances)
        for k in range(count):
            row = row_of(table, np.int64(targets[k]))
            raise_captures(row, captures_by(moves, k, group, others), begin, chances)
        return
    for k in range(count):
        taken = captures_by(moves, k, group, others)
        for h in range(len(taken)):
            opposing = np.int64(row_of(taken, h)[0])
            chances[opposing - begin] = best_chance(moves, opposing, others, rules)


@compiled
def write_mean(moves, others, group, begin, chances, up, rules):
    """Write the mover's chances (W,) against a group's boards if it plays any legal move."""
    table, targets, _, count = moves
    for x in range(len(chances)):
        total = np.int64(0)
        for k in range(count):
            total += np.int64(row_of(table, np.int64(targets[k]))[begin + x])
        chances[x] = quotient(total, count, up)
    for k in range(count):
        taken = captures_by(moves, k, group, others)
        for h in range(len(taken)):
            opposing = np.int64(row_of(taken, h)[0])
            chances[opposing - begin] = mean_chance(moves, opposing, others, up, rules)


@compiled
def write_planned(moves, others, group, begin, chances, plan, die):
    """Write the mover's chances (W,) against a group's boards if it plays by its plan (W,)."""
    table, targets, _, count = moves
    write_first(moves, begin, chances)
    for k in range(1, count):
        row = row_part(table, targets[k], begin, len(chances))
        for x in range(len(chances)):
            chances[x] = row[x] if planned(plan[x], die) == k else chances[x]
    for k in range(count):
        row = row_of(table, np.int64(targets[k]))
        taken = captures_by(moves, k, group, others)
        for h in range(len(taken)):
            pair = row_of(taken, h)
            x = np.int64(pair[0]) - begin
            if planned(plan[x], die) == k:
                chances[x] = row[np.int64(pair[1])]


@compiled
def add_weighted(weight, chances, sums):
    """Add the chances (W,), so many times, to the sums (W,); in place."""
    if weight == 1:
        for x in range(len(sums)):
            sums[x] += np.int64(chances[x])
    else:
        for x in range(len(sums)):
            sums[x] += weight * np.int64(chances[x])


@compiled
def sum_tile(side, group, opposing, sums, chances, tables, rules):
    """Sum the mover's chances over the dice with a move, for a group against a group.

    Args:
        side: The mover.
        group: The group of its board.
        opposing: The group of the other's.
        sums: int64 (boards of ``group`` × boards of ``opposing``,), receives the sums, weighted by
            ``weight``.
        chances: As the side's tables, scratch for a row.
        tables: `Tables`.
        rules: `CompiledRules`.
    """
    rolls, waits, play, plan, up = side
    first, count, weight = tables.first, tables.choices, tables.weight
    target, square = tables.target, tables.square
    rolls, waits = block_of(rolls, 0, len(rolls)), block_of(waits, 0, len(waits))
    others = others_of(tables)
    begin, width = first[opposing], first[opposing + 1] - first[opposing]
    row = block_of(chances, 0, width)
    for i in range(first[group], first[group + 1]):
        place = (i - first[group]) * width
        own_sums = block_of(sums, place, place + width)
        for x in range(width):
            own_sums[x] = 0
        for die in range(6):
            if count[i, die] == 0:
                continue
            moves = (
                rolls if die == 5 else waits,
                row_of(row_of(target, i), die),
                row_of(row_of(square, i), die),
                np.int64(count[i, die]),
            )
            if play == BEST:
                write_best(moves, others, opposing, begin, row, rules)
            elif play == UNIFORM:
                write_mean(moves, others, opposing, begin, row, up, rules)
            else:
                part = row_part(plan, i, begin, width)
                write_planned(moves, others, opposing, begin, row, part, die)
            add_weighted(weight[i, die], row, own_sums)


@compiled
def finish_tile(side, other, group, opposing, sums, other_sums, one, tables):
    """Turn a tile's sums into chances, with the passes (R6); in place. Returns the largest change.

    With sums A and A′ of the two who pass to each other, c and c′ passes of P and P′ cases, the
    roller's chance x and the other's y: P x = A + c (1 − y) and P′ y = A′ + c′ (1 − x).
    """
    rolls, up, theirs = side.rolls, side.up, other.waits
    first, all_passes, totals = tables.first, tables.passes, tables.total
    begin, width = first[opposing], first[opposing + 1] - first[opposing]
    mine = first[group + 1] - first[group]
    change = np.int64(0)
    for i in range(first[group], first[group + 1]):
        row = row_part(rolls, i, begin, width)
        total, passes, k = totals[i], all_passes[i], i - first[group]
        for x in range(width):
            own = sums[k * width + x]
            j = begin + x
            if passes == 0:
                chance = quotient(own, 6, up)
            else:
                other_wins = other_sums[x * mine + k] + all_passes[j] * one
                chance = quotient(
                    totals[j] * own + passes * (totals[j] * one - other_wins),
                    total * totals[j] - passes * all_passes[j],
                    up,
                )
            change = max(change, abs(chance - np.int64(row[x])))
            row[x] = chance
            row_of(theirs, j)[i] = one - chance
    return change


@compiled
def sum_level(level, groups, starts, a, b, sums_a, sums_b, chances, tables, rules):
    """Sum some tiles of a level for both sides.

    Args:
        level: The sum of both groups' numbers.
        groups: int64 (k,), the groups of the mover's board.
        starts: int64 (G + 1,), where each group's tile of this level begins in the sums.
        a: A `Side`.
        b: The other `Side`.
        sums_a: int64, receives the sums of ``a``'s tiles.
        sums_b: int64, those of ``b``'s.
        chances: Scratch for a row.
        tables: `Tables`.
        rules: `CompiledRules`.
    """
    for group in groups:
        low, high = starts[group], starts[group + 1]
        tile_a, tile_b = block_of(sums_a, low, high), block_of(sums_b, low, high)
        sum_tile(a, group, level - group, tile_a, chances, tables, rules)
        sum_tile(b, group, level - group, tile_b, chances, tables, rules)


@compiled
def finish_level(level, groups, starts, a, b, sums_a, sums_b, one, tables):
    """`finish_tile` some tiles of a level for both sides. Returns the largest change."""
    change = np.int64(0)
    for group in groups:
        other = level - group
        low, high = starts[group], starts[group + 1]
        tile_a, tile_b = block_of(sums_a, low, high), block_of(sums_b, low, high)
        low, high = starts[other], starts[other + 1]
        other_a, other_b = block_of(sums_a, low, high), block_of(sums_b, low, high)
        change = max(change, finish_tile(a, b, group, other, tile_a, other_b, one, tables))
        change = max(change, finish_tile(b, a, group, other, tile_b, other_a, one, tables))
    return change


@compiled
def largest_gap(lower, upper):
    """The largest difference between two tables' entries, at least 0."""
    gap = np.int64(0)
    for i in range(len(lower)):
        low, high = row_of(lower, i), row_of(upper, i)
        for x in range(len(low)):
            gap = max(gap, np.int64(high[x]) - np.int64(low[x]))
    return gap
