"""The scripted policies as compiled functions, so that games can be played without Python."""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import highest_bit, popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import KEY, ROLLS, opponents_of, player_of
from ludo_env.core.rules import MAX_PAWNS

POLICIES = ("random", "first", "advance")
"""Names of the scripted policies; a policy's code is its index here."""

RANDOM, FIRST, ADVANCE = range(len(POLICIES))


def policy_code(name: str) -> int:
    """The code of a scripted policy.

    Raises:
        ValueError: There is no such policy.
    """
    if name not in POLICIES:
        raise ValueError(f"policy must be one of {', '.join(POLICIES)}; got {name!r}")
    return POLICIES.index(name)


@compiled
def choose(policy, key, game, legal, rules):
    """The move that a scripted policy plays.

    Args:
        policy: Its code.
        key: The key of the policy's own draws; a draw depends on it, on the game and on the number
            of rolls made, and takes none of the game's dice.
        game: int64 (ROW,), at a decision.
        legal: The legal destinations, at least one bit.
        rules: `CompiledRules`.

    Returns:
        One bit of ``legal``.
    """
    if policy == RANDOM:
        return pick(legal, dice.word(game[KEY] ^ key, game[ROLLS]))
    if policy == ADVANCE:
        captures = legal & opponents_of(game, player_of(game), rules)
        if captures:
            return highest_bit(captures)
    return highest_bit(legal)


@compiled
def pick(moves, random_word):
    """One of the set bits, all equally likely."""
    chosen = dice.below(random_word, popcount(moves))
    for k in range(MAX_PAWNS - 1):  # no early exit: a data-dependent branch costs more
        moves &= moves - (1 if k < chosen else 0)
    return moves & -moves
