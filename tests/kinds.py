"""The kinds of games there are."""

from __future__ import annotations

from itertools import product

from ludo_env import Rules

ALL_RULES = [
    Rules(players, pawns, *options)
    for players in (2, 3, 4)
    for pawns in (1, 2, 3, 4)
    for options in product((True, False), repeat=3)
]
"""All rules."""

RULES_OF_PLAY = [rules for rules in ALL_RULES if not rules.pawn_on_start]
"""All rules but for how a game begins."""
