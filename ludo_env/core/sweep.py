"""Kernels of value iteration over all positions of two players.

A `Side` has two tables (N, N) of its own chances to win, indexed by its board and the other's:
``rolls`` where it is about to roll, ``waits`` where the other is. Chances are integers from 0 to
``one``, rounded down or up, so that what starts as a bound stays one. A turn's moves lead to the
side's own ``waits``, or to its ``rolls`` after a 6 (R8), and every row of opposing boards lies
contiguous in both.

Positions are taken by level, the sum of both distances, from the highest down. A move alone leads
to a higher level, already done; only captures lead back. A turn that passes (R6) leads to the same
level: the two positions that pass to each other are solved together.
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
def chance_after(table, target, square, held, opposing, without):
    """The mover's chance after one move: with a capture where the square is held."""
    after = np.int64(row_of(without, np.int64(square))[opposing]) if held else opposing
    return np.int64(row_of(table, np.int64(target))[after])


@compiled
def best_chance(table, targets, squares, count, bits, opposing, without, rules):
    """The mover's chance at one pair of boards with its best legal move."""
    held = squares_held(bits, squares, count)
    legal = choices((1 << count) - 1, held, rules)
    best = np.int64(0)
    for k in range(count):
        if legal >> k & 1:
            chance = chance_after(table, targets[k], squares[k], held >> k & 1, opposing, without)
            best = max(best, chance)
    return best


@compiled
def mean_chance(table, targets, squares, count, bits, opposing, without, up, rules):
    """The mover's chance at one pair of boards with any legal move, all equally likely."""
    held = squares_held(bits, squares, count)
    legal = choices((1 << count) - 1, held, rules)
    total = np.int64(0)
    for k in range(count):
        if legal >> k & 1:
            total += chance_after(table, targets[k], squares[k], held >> k & 1, opposing, without)
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
def captures_of(captures, first_capture, square, group):
    """The captures on a square among a group's boards: a block of `Tables.captures`."""
    ends = row_of(first_capture, np.int64(square))
    return block_of(row_of(captures, np.int64(square)), ends[group], ends[group + 1])


@compiled
def row_part(table, board, begin, width):
    """A part of a board's row."""
    return block_of(row_of(table, np.int64(board)), begin, begin + width)


@compiled
def write_best(
    table,
    targets,
    squares,
    count,
    group,
    begin,
    chances,
    bits,
    without,
    captures,
    first_capture,
    rules,
):
    """Write the mover's chances (W,) against a group's boards if it plays its best move."""
    width = len(chances)
    first_row = row_part(table, targets[0], begin, width)
    for x in range(width):
        chances[x] = first_row[x]
    for k in range(1, count):
        raise_to(row_part(table, targets[k], begin, width), chances)
    alone = choices((1 << count) - 1, 1, rules) == 1  # R14, or there is one move only
    for k in range(count):
        if alone and squares[k] >= 0:
            clear_captures(captures_of(captures, first_capture, squares[k], group), begin, chances)
    for k in range(count):
        if squares[k] < 0:
            continue
        taken = captures_of(captures, first_capture, squares[k], group)
        if alone:
            raise_captures(row_of(table, np.int64(targets[k])), taken, begin, chances)
            continue
        for h in range(len(taken)):
            j = np.int64(row_of(taken, h)[0])
            chances[j - begin] = best_chance(
                table, targets, squares, count, bits[j], j, without, rules
            )


@compiled
def write_mean(
    table,
    targets,
    squares,
    count,
    group,
    begin,
    chances,
    bits,
    without,
    captures,
    first_capture,
    up,
    rules,
):
    """Write the mover's chances (W,) against a group's boards if it plays any legal move."""
    width = len(chances)
    for x in range(width):
        total = np.int64(0)
        for k in range(count):
            total += np.int64(row_of(table, np.int64(targets[k]))[begin + x])
        chances[x] = quotient(total, count, up)
    for k in range(count):
        if squares[k] < 0:
            continue
        taken = captures_of(captures, first_capture, squares[k], group)
        for h in range(len(taken)):
            j = np.int64(row_of(taken, h)[0])
            chances[j - begin] = mean_chance(
                table, targets, squares, count, bits[j], j, without, up, rules
            )


@compiled
def write_planned(
    table, targets, squares, count, group, begin, chances, plan, die, captures, first_capture
):
    """Write the mover's chances (W,) against a group's boards if it plays by its plan (W,)."""
    width = len(chances)
    first_row = row_part(table, targets[0], begin, width)
    for x in range(width):
        chances[x] = first_row[x]
    for k in range(1, count):
        row = row_part(table, targets[k], begin, width)
        for x in range(width):
            chances[x] = row[x] if planned(plan[x], die) == k else chances[x]
    for k in range(count):
        if squares[k] < 0:
            continue
        taken = captures_of(captures, first_capture, squares[k], group)
        row = row_of(table, np.int64(targets[k]))
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
    # Taken from the tuple here: each taking counts a reference.
    bits, first, count, target, square, weight, _, _, without, captures, first_capture = tables
    begin, width = first[opposing], first[opposing + 1] - first[opposing]
    row = block_of(chances, 0, width)
    for i in range(first[group], first[group + 1]):
        place = (i - first[group]) * width
        own_sums = block_of(sums, place, place + width)
        for x in range(width):
            own_sums[x] = 0
        for die in range(6):
            number = np.int64(count[i, die])
            if number == 0:
                continue
            table = rolls if die == 5 else waits
            targets, squares = row_of(row_of(target, i), die), row_of(row_of(square, i), die)
            if play == BEST:
                write_best(
                    table,
                    targets,
                    squares,
                    number,
                    opposing,
                    begin,
                    row,
                    bits,
                    without,
                    captures,
                    first_capture,
                    rules,
                )
            elif play == UNIFORM:
                write_mean(
                    table,
                    targets,
                    squares,
                    number,
                    opposing,
                    begin,
                    row,
                    bits,
                    without,
                    captures,
                    first_capture,
                    up,
                    rules,
                )
            else:
                write_planned(
                    table,
                    targets,
                    squares,
                    number,
                    opposing,
                    begin,
                    row,
                    row_part(plan, i, begin, width),
                    die,
                    captures,
                    first_capture,
                )
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
