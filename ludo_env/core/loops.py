"""The kernels over many games: what a `GameBatch` runs in one compiled call.

``games`` is int64 (B, ROW). ``rows`` is int64 (k,), or None for all of them: then k is B.
``scripts`` is int8 (B, S), the scripted rolls of each row's present game, 0 where the dice decide;
or None where no game has any. Each row depends on itself alone, so any split of the rows over
threads gives the same games.
"""

from __future__ import annotations

from ludo_env.core import dice
from ludo_env.core.bits import highest_bit, popcount, write_bits
from ludo_env.core.jit import compiled
from ludo_env.core.kernels import (
    KEY,
    SEED,
    START_SQUARE,
    action_of,
    allowed_tries,
    begin_episode,
    board_moves,
    choices,
    chosen_destination,
    clear,
    clear_script,
    deal,
    decider,
    die_of,
    episode_of,
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
from ludo_env.core.rows import row_of
from ludo_env.core.rules import MAX_PAWNS
from ludo_env.core.scripted import chosen_move


@compiled
def num_rows(games, rows):
    """How many rows are meant."""
    return len(games) if rows is None else len(rows)


@compiled
def row_number(rows, k):
    """The ``k``-th of the rows."""
    return k if rows is None else rows[k]


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
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        begin(row_of(games, row), row_of(scripts, row), None, rules)


@compiled
def seed_rows(games, rows, seeds):
    """Give the rows (k,) their seeds (k,), and name the first game of each."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        game[SEED] = seeds[k]
        begin_episode(game, 0)


@compiled
def name_next_episodes(games, rows):
    """Name the next game of each of the rows."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        begin_episode(game, episode_of(game) + 1)


@compiled
def start(game, episode, script, rules):
    """Deal the ``episode``-th game of the row's seed and `settle` its first turn; in place."""
    deal(game, episode, rules)
    clear_script(script)
    return roll_on(game, script, None, rules)


@compiled
def start_rows(games, rows, scripts, rules):
    """`start` each of the rows, with the episode that its ``TURN`` names, without scripted dice."""
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        start(row_of(games, row), episode_of(row_of(games, row)), row_of(scripts, row), rules)


@compiled
def first_illegal(games, actions, rules):
    """The first row whose action (B,) is illegal, or −1; ended rows have none."""
    for row in range(len(games)):
        game = row_of(games, row)
        if not is_over(game) and legal_destination(game, actions[row], rules) == 0:
            return row
    return -1


@compiled
def step_rows(games, scripts, actions, finished, rules):
    """Play a legal action (B,) in each row, or start the next game of an ended one.

    Writes whether each row has ended into ``finished``, bool (B,).
    """
    for row in range(len(games)):
        game = row_of(games, row)
        script = row_of(scripts, row)
        if is_over(game):
            start(game, episode_of(game) + 1, script, rules)
        elif play(game, chosen_destination(game, actions[row]), rules):
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
def play_action_and_mask(game, action, script, mask, rules):
    """`play_action`, and write the next decision's mask into ``mask``, int8 (4,)."""
    if not play_action(game, action, script, None, rules):
        return False
    write_mask(game, mask, rules)
    return True


@compiled
def mark_legal(games, rows, actions, legal, rules):
    """Write whether each action (k,) is legal in its row into ``legal``, bool (k,)."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        legal[k] = legal_destination(game, actions[k], rules) != 0


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
    for k in range(num_rows(games, rows)):
        row = row_number(rows, k)
        if not play_action(row_of(games, row), actions[k], row_of(scripts, row), None, rules):
            return k
    return -1


@compiled
def mask_bits(game, rules):
    """The legal actions of the player who decides, action ``k`` as bit ``k``; 0 at the end."""
    own = game[player_of(game)]
    moves = legal_moves(game, rules)
    sources = moves >> die_of(game)
    bits = (moves & START_SQUARE) << popcount(own)  # no pawn of the board is moved there
    for k in range(MAX_PAWNS):
        furthest = highest_bit(own)
        own ^= furthest
        bits |= (1 if sources & furthest else 0) << k
    return bits


@compiled
def write_mask(game, mask, rules):
    """Write the mask of the player who decides into ``mask``, int8 (4,); zeros at the end."""
    write_bits(mask, 0, mask_bits(game, rules), 4)


@compiled
def write_masks(games, rows, masks, rules):
    """`write_mask` of the rows (k,) into ``masks`` (k, 4)."""
    for k in range(num_rows(games, rows)):
        write_mask(row_of(games, row_number(rows, k)), row_of(masks, k), rules)


@compiled
def write_observations(games, rows, observers, views, rules):
    """Observations of the rows (k,) for the observers (k,), or None for those who decide.

    Zeros for an observer below 0, and for nobody where a game has ended.
    """
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        observer = decider(game) if observers is None else observers[k]
        if observer < 0:
            clear(row_of(views, k))
        else:
            write_observation(game, observer, row_of(views, k), rules)


@compiled
def write_all_places(games, rows, places, rules):
    """Places (k, P) of the rows (R20); 0 before the end."""
    for k in range(num_rows(games, rows)):
        write_places(row_of(games, row_number(rows, k)), row_of(places, k), rules)


@compiled
def write_all_pawns(games, rows, pawns, rules):
    """Progresses (k, P, n) of the rows, each player's most advanced first."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        for player in range(players(rules)):
            write_pawns(game[player], row_of(row_of(pawns, k), player))


@compiled
def write_afterstates(games, rows, after, player, winner, legal, rules):
    """What each action of the rows (k,) leads to, before the next roll.

    Writes ``after`` int64 (k, 4, ROW), ``player`` and ``winner`` int8 (k, 4), and ``legal``
    bool (k, 4); illegal entries are left as they are.
    """
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        for action in range(MAX_PAWNS):
            destination = legal_destination(game, action, rules)
            if destination == 0:
                continue
            successor = row_of(row_of(after, k), action)
            for i in range(len(game)):
                successor[i] = game[i]
            goes_on = play(successor, destination, rules)
            legal[k, action] = True
            player[k, action] = player_of(successor) if goes_on else -1
            winner[k, action] = -1 if goes_on else player_of(successor)


@compiled
def act_rows(games, rows, policy, key, actions, rules):
    """Actions (k,) of a scripted policy in the rows. Returns whether all stand at a decision."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        if is_over(game):
            return False
        player = player_of(game)
        opponents = opponents_of(game, player, rules)
        legal = choices(board_moves(game, rules), opponents, rules)
        move = chosen_move(game, policy, key, legal, opponents, rules)
        actions[k] = action_of(game[player], move, die_of(game))
    return True


@compiled
def rekey_rows(games, rows):
    """Give the rows the dice of their seeds and episodes; in place."""
    for k in range(num_rows(games, rows)):
        game = row_of(games, row_number(rows, k))
        game[KEY] = dice.game_key(game[SEED], episode_of(game))


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
