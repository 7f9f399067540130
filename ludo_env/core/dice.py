"""The only source of chance: a counter-based generator, a pure function of key and counter.

A word is the SplitMix64 finaliser of the key combined with the counter (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014). Nothing is stored but the key and
how many rolls were made, so a game is the same in any batch, on any thread, compiled or not.
"""

from __future__ import annotations

import secrets

from ludo_env.core.bits import wrapping_mul
from ludo_env.core.jit import compiled

MAX_SEED = 2**63 - 1
"""Largest seed; seeds are integers from 0 to here."""

_LOW_32 = 0xFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15 - 2**64
_MULTIPLIER_1 = 0xBF58476D1CE4E5B9 - 2**64
_MULTIPLIER_2 = 0x94D049BB133111EB - 2**64
_EPISODE_SALT = 0x2545F4914F6CDD1D
_POLICY_SALT = 0x632BE59BD9B4E019
_SPREAD_SALT = 0x1D8E4E27C47D124F
_BLIND_SALT = 0x369DEA0F31A53F85


@compiled
def mix(x):
    """SplitMix64's finaliser, a bijection of signed 64-bit integers."""
    x = wrapping_mul(x ^ ((x >> 30) & 0x3FFFFFFFF), _MULTIPLIER_1)
    x = wrapping_mul(x ^ ((x >> 27) & 0x1FFFFFFFFF), _MULTIPLIER_2)
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


@compiled
def word(key, counter):
    """The 64-bit word number ``counter`` of the stream ``key``."""
    return mix(key ^ wrapping_mul(counter, _GOLDEN))


@compiled
def below(random_word, n):
    """A number 0 … n−1 from a word's upper half, uniform to within n / 2**32."""
    return (((random_word >> 32) & _LOW_32) * n) >> 32


@compiled
def roll(key, counter):
    """Roll number ``counter`` (from 0) of the game with this key: 1 … 6."""
    return below(word(key, counter), 6) + 1


@compiled
def write_rolls(key, rolls):
    """Write the first rolls of the game with this key, int8 (k,); in place."""
    for counter in range(len(rolls)):
        rolls[counter] = roll(key, counter)


@compiled
def game_key(seed, episode):
    """The dice key of a seed's ``episode``-th game."""
    return mix(mix(seed) ^ wrapping_mul(episode, _EPISODE_SALT))


@compiled
def policy_key(seed):
    """The key of a policy's own draws; it never meets the dice's."""
    return mix(mix(seed ^ _POLICY_SALT) ^ _POLICY_SALT)


@compiled
def spread_seed(seed, i):
    """The ``i``-th of the seeds that one seed stands for: itself first, the others well apart."""
    if i == 0:
        return seed
    return word(mix(seed ^ _SPREAD_SALT), i) & 0x7FFFFFFFFFFFFFFF


@compiled
def blind_seed(seed):
    """The seed of a game's stand-in, which rolls other dice than the game itself."""
    return mix(seed ^ _BLIND_SALT) & 0x7FFFFFFFFFFFFFFF


def fresh_seed() -> int:
    """A seed from the operating system's entropy."""
    return secrets.randbits(63)
