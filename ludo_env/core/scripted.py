"""The scripted policies as compiled functions, so that games can be played without Python."""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.careful import choose_carefully, weights_for
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import KEY, decisions_of, die_of, player_of
from ludo_env.core.reach import threats_to
from ludo_env.core.rules import MAX_PAWNS

POLICIES = ("random", "first", "advance", "careful")
"""Names of the scripted policies; a policy's code is its index here."""

RANDOM, FIRST, ADVANCE, CAREFUL = range(len(POLICIES))


def policy_code(name: str) -> int:
    """The code of a scripted policy.

    Raises:
        ValueError: There is no such policy.
    """
    if name not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}; got {name!r}")
    return POLICIES.index(name)


@compiled
def chosen_move(game, policy, key, legal, opponents, rules):
    """The move that a scripted policy plays in a game.

    Args:
        game: int64 (ROW,), at a decision.
        policy: Its code.
        key: The key of the policy's own draws.
        legal: The legal destinations.
        opponents: Track squares of all opponents, in the player's frame.
        rules: `CompiledRules`.
    """
    if policy == CAREFUL:
        threats = threats_to(game, player_of(game), rules)
        return choose_carefully(legal, die_of(game), opponents, threats, weights_for(rules))
    return choose(policy, draw_key(game, key), decisions_of(game), legal, opponents)


@compiled
def choose(policy, key, decision, legal, opponents):
    """The move that a scripted policy plays which looks at no more than this.

    Args:
        policy: Its code; any but that of "careful".
        key: The key of the policy's own draws in this game (see `draw_key`).
        decision: The number of the decision in its game, from 0.
        legal: The legal destinations.
        opponents: Track squares of all opponents, in the player's frame.

    Returns:
        One bit of ``legal``, or 0 where that has none.
    """
    if policy == RANDOM:
        return pick(legal, dice.word(key, decision))
    captures = legal & opponents if policy == ADVANCE else 0
    return highest_bit(captures if captures else legal)


@compiled
def draw_key(game, key):
    """The key of a policy's draws in a game, from the policy's: they take none of its dice."""
    return game[KEY] ^ key


@compiled
def pick(moves, random_word):
    """One of the set bits, all equally likely."""
    chosen = dice.below(random_word, popcount(moves))
    for k in range(MAX_PAWNS - 1):  # no early exit: a data-dependent branch costs more
        moves &= moves - (1 if k < chosen else 0)
    return moves & -moves
