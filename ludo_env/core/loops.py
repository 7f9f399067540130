"""The kernels over many games: what a `GameBatch` runs in one compiled call.

``games`` is int64 (B, ROW), ``seeds`` and ``episodes`` int64 (B,), ``scripts`` int8 (B, S): the
scripted rolls of each row's present game, 0 where the dice decide. Each row depends on itself
alone, so any split of the rows over threads gives the same games.
"""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import popcount
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    DECISIONS,
    KEY,
    ROLLS,
    action_of,
    allowed_tries,
    board_moves,
    choices,
    clear,
    deal,
    die_of,
    has_won,
    is_over,
    legal_destination,
    legal_moves,
    opponents_of,
    play,
    player_of,
    players,
    roll_on,
    settle,
    write_pawns,
    write_places,
)
from ludo_env.core.observation import write_observation
from ludo_env.core.scripted import choose

OVER, CUT = -1, -2
"""What `settle_decisions` answers where nobody is to be asked: the game is over, or cut off."""

# Columns of rollout totals; the wins by player follow the last.
TOTALS = (
    "decisions",
    "rolls",
    "captures",
    "finished",
    "whole_games",
    "whole_decisions",
    "whole_rolls",
    "whole_captures",
    "whole_forced",
    "whole_legal_moves",
)
_WINS = len(TOTALS)


@compiled
def begin(game, script, log, rules):
    """Play a set-up row through to its first decision; in place.

    A die in ``TURN`` counts as the first roll of its turn; a finished game stays as it is.
    """
    own = game[player_of(game)]
    die = die_of(game)
    if die == 0 and has_won(own, rules):
        return
    settle(game, die, allowed_tries(own, rules), script, log, rules)


@compiled
def begin_rows(games, rows, scripts, rules):
    """`begin` each of the rows."""
    for row in rows:
        begin(games[row], scripts[row], None, rules)


@compiled
def start(game, seed, episode, script, rules):
    """Deal a row's ``episode``-th game and `settle` its first turn; in place."""
    deal(game, dice.game_key(seed, episode), rules)
    return roll_on(game, script, None, rules)


@compiled
def start_rows(games, rows, seeds, episodes, scripts, rules):
    """`start` each of the rows without scripted dice."""
    for row in rows:
        clear(scripts[row])
        start(games[row], seeds[row], episodes[row], scripts[row], rules)


@compiled
def find_destinations(games, actions, destinations, rules):
    """Turn actions (B,) into destinations (B,); ended rows get 0.

    Returns:
        The first row whose action is illegal, or −1.
    """
    for row in range(len(games)):
        game = games[row]
        destinations[row] = 0
        if not is_over(game):
            destinations[row] = legal_destination(game, actions[row], rules)
            if destinations[row] == 0:
                return row
    return -1


@compiled
def step_rows(games, seeds, episodes, scripts, destinations, finished, rules):
    """Play a move in each row, or start the next game of an ended one; writes ``finished``."""
    for row in range(len(games)):
        game = games[row]
        script = scripts[row]
        if is_over(game):
            episodes[row] += 1
            clear(script)
            start(game, seeds[row], episodes[row], script, rules)
        elif play(game, destinations[row], rules):
            roll_on(game, script, None, rules)
        finished[row] = is_over(game)


@compiled
def play_action(game, action, script, log, rules):
    """Play an action and roll on to the next decision; in place.

    Returns:
        Whether the action was legal; the row is unchanged where it was not.
    """
    destination = legal_destination(game, action, rules)
    if destination == 0:
        return False
    if play(game, destination, rules):
        roll_on(game, script, log, rules)
    return True


@compiled
def mark_legal(games, rows, actions, legal, rules):
    """Write whether each action (k,) is legal in its row into ``legal``, bool (k,)."""
    for k in range(len(rows)):
        legal[k] = legal_destination(games[rows[k]], actions[k], rules) != 0


@compiled
def within(rows, num_rows):
    """Whether all row numbers are from 0 to ``num_rows`` − 1."""
    for row in rows:
        if row < 0 or row >= num_rows:
            return False
    return True


@compiled
def play_rows(games, rows, actions, scripts, rules):
    """`play_action` in some rows. Returns the place of the first illegal action, or −1."""
    for k in range(len(rows)):
        row = rows[k]
        if not play_action(games[row], actions[k], scripts[row], None, rules):
            return k
    return -1


@compiled
def settle_decisions(game, script, policies, keys, skip_forced, max_rolls, rules):
    """Play scripted players, and forced moves if asked to, up to a decision of somebody else.

    Args:
        game: int64 (ROW,), at a decision or its end; in place.
        script: int8 (S,), the row's scripted rolls.
        policies: int8 (P,), each player's scripted policy, or −1 for one who is to be asked.
        keys: int64 (P,), the keys of the policies' draws.
        skip_forced: Whether the only legal move is played for whoever has no other.
        max_rolls: Rolls after which no further decision is reached; 0 for no limit.
        rules: The compiled rules.

    Returns:
        The player to be asked, `OVER` or `CUT`.
    """
    while not is_over(game):
        if 0 < max_rolls <= game[ROLLS]:
            return CUT
        player = player_of(game)
        legal = legal_moves(game, rules)
        if skip_forced and legal & (legal - 1) == 0:
            move = legal
        elif policies[player] >= 0:
            move = choose(policies[player], keys[player], game, legal, rules)
        else:
            return player
        if play(game, move, rules):
            roll_on(game, script, None, rules)
    return OVER


@compiled
def settle_rows(games, rows, scripts, policies, keys, skip_forced, max_rolls, asked, rules):
    """`settle_decisions` in the rows (k,); ``policies`` and ``keys`` are (B, P), ``asked`` (k,)."""
    for k in range(len(rows)):
        row = rows[k]
        asked[k] = settle_decisions(
            games[row], scripts[row], policies[row], keys[row], skip_forced, max_rolls, rules
        )


@compiled
def write_mask(game, mask, rules):
    """Write the mask of the player who decides into ``mask``, int8 (4,); zeros at the end."""
    clear(mask)
    moves = legal_moves(game, rules)
    while moves:
        move = moves & -moves
        mask[action_of(game[player_of(game)], move, die_of(game))] = 1
        moves ^= move


@compiled
def write_masks(games, rows, masks, rules):
    """`write_mask` of the rows (k,) into ``masks`` (k, 4)."""
    for k in range(len(rows)):
        write_mask(games[rows[k]], masks[k], rules)


@compiled
def write_observations(games, rows, observers, views, rules):
    """Observations of the rows (k,) for the observers (k,); zeros for an observer below 0."""
    for k in range(len(rows)):
        if observers[k] < 0:
            clear(views[k])
        else:
            write_observation(games[rows[k]], observers[k], views[k], rules)


@compiled
def write_all_places(games, rows, places, rules):
    """Places (k, P) of the rows (R20); 0 before the end."""
    for k in range(len(rows)):
        write_places(games[rows[k]], places[k], rules)


@compiled
def write_all_pawns(games, rows, pawns, rules):
    """Progresses (k, P, n) of the rows, each player's most advanced first."""
    for k in range(len(rows)):
        for player in range(players(rules)):
            write_pawns(games[rows[k], player], pawns[k, player])


@compiled
def write_afterstates(games, rows, after, player, winner, legal, rules):
    """What each action of the rows (k,) leads to, before the next roll.

    Writes ``after`` int64 (k, 4, ROW), ``player`` and ``winner`` int8 (k, 4), and ``legal``
    bool (k, 4); illegal entries are left as they are.
    """
    for k in range(len(rows)):
        game = games[rows[k]]
        for action in range(4):
            destination = legal_destination(game, action, rules)
            if destination == 0:
                continue
            successor = after[k, action]
            for i in range(len(game)):
                successor[i] = game[i]
            goes_on = play(successor, destination, rules)
            legal[k, action] = True
            player[k, action] = player_of(successor) if goes_on else -1
            winner[k, action] = -1 if goes_on else player_of(successor)


@compiled
def act_rows(games, rows, policy, key, actions, rules):
    """Actions (k,) of a scripted policy in the rows. Returns whether all stand at a decision."""
    for k in range(len(rows)):
        game = games[rows[k]]
        if is_over(game):
            return False
        move = choose(policy, key, game, legal_moves(game, rules), rules)
        actions[k] = action_of(game[player_of(game)], move, die_of(game))
    return True


@compiled
def rollout_rows(games, seeds, episodes, scripts, steps, policy, key, totals, rules):
    """Play ``steps`` decisions in each row, adding to ``totals``, int64 (len(TOTALS) + P,).

    Games run one after another, each through all its steps, so that a row stays in registers.
    The whole games are those that stood at their first decision when the call began, or began
    in it, and finished in it.
    """
    decisions = rolls = captures = finished = 0
    games_whole = whole_decisions = whole_rolls = whole_captures = whole_forced = whole_legal = 0
    for row in range(len(games)):
        game = games[row]
        script = scripts[row]
        is_whole = game[DECISIONS] == 0
        game_captures = game_forced = game_legal = 0
        rolls -= game[ROLLS]
        moves = board_moves(game, rules)
        for _ in range(steps):
            if moves == 0:
                rolls += game[ROLLS]
                episodes[row] += 1
                clear(script)
                moves = start(game, seeds[row], episodes[row], script, rules)
                is_whole = True
                game_captures = game_forced = game_legal = 0
            opponents = opponents_of(game, player_of(game), rules)
            legal = choices(moves, opponents, rules)
            move = choose(policy, key, game, legal, rules)
            game_captures += 1 if move & opponents else 0
            game_forced += 1 if legal & (legal - 1) == 0 else 0
            game_legal += popcount(legal)
            captures += 1 if move & opponents else 0
            if play(game, move, rules):
                moves = roll_on(game, script, None, rules)
                continue
            moves = 0
            finished += 1
            totals[_WINS + player_of(game)] += 1
            if is_whole:
                games_whole += 1
                whole_decisions += game[DECISIONS]
                whole_rolls += game[ROLLS]
                whole_captures += game_captures
                whole_forced += game_forced
                whole_legal += game_legal
        rolls += game[ROLLS]
        decisions += steps
    totals[0] += decisions
    totals[1] += rolls
    totals[2] += captures
    totals[3] += finished
    totals[4] += games_whole
    totals[5] += whole_decisions
    totals[6] += whole_rolls
    totals[7] += whole_captures
    totals[8] += whole_forced
    totals[9] += whole_legal


@compiled
def rekey_rows(games, rows, seeds, episodes):
    """Give the rows the dice of their seeds and episodes; in place."""
    for row in rows:
        games[row, KEY] = dice.game_key(seeds[row], episodes[row])


@compiled
def spread_seeds(seed, seeds):
    """Write the seeds that one seed stands for into ``seeds`` (B,)."""
    for i in range(len(seeds)):
        seeds[i] = dice.spread_seed(seed, i)


@compiled
def blind_seeds(seeds, blind):
    """Write seeds that tell nothing about the given ones' dice into ``blind`` (B,)."""
    for i in range(len(seeds)):
        blind[i] = dice.blind_seed(seeds[i])


@compiled
def draw_seats(seeds, episodes, num_players, rows, seats):
    """Draw a player for each of the rows from its seed and episode (k,), into ``seats`` (B,)."""
    for k in range(len(rows)):
        key = dice.policy_key(seeds[k])
        seats[rows[k]] = dice.below(dice.word(key, episodes[k]), num_players)


@compiled
def seat_keys(seeds, own_seeds, players, rows, keys):
    """Write the draws' keys of who plays ``players`` (k,) in the rows (k,) into ``keys`` (B, P).

    A key follows from the policy's own seed, or, where that is −1, from the row's seed.
    """
    for k in range(len(rows)):
        seed = own_seeds[k]
        if seed < 0:
            seed = dice.spread_seed(seeds[k], players[k] + 1)
        keys[rows[k], players[k]] = dice.policy_key(seed)
