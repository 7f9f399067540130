// The yardstick: random games of the default rules, as fast as plain C plays them on one core.
//
//   yardstick PLAYERS MODE BATCH SECONDS      MODE: scalar | scalarobs (also writes 180 floats)
//
// A decision is a roll that leaves a legal move, and that move. Each player's pawns are a 44-bit
// mask in that player's own frame: bits 0-39 the track, 40-43 the column; the yard is the rest.
// Prints one line of JSON.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

typedef uint64_t u64;
typedef uint32_t u32;

#define TRACK ((1ull << 40) - 1)
#define INLINE static inline __attribute__((always_inline))

typedef struct {
  u64 boards[4];
  u64 random;
  u32 player, tries;
  u64 padding[2];  // one cache line
} Game;

static u64 TARGETS[7][16];  // by die and column occupancy: where a pawn may end

static void fill_targets(void) {
  for (int die = 1; die <= 6; die++)
    for (int column = 0; column < 16; column++) {
      TARGETS[die][column] = TRACK;
      for (int square = 0; square < 4; square++) {
        int passed = 0;
        for (int k = square - die + 1 < 0 ? 0 : square - die + 1; k < square; k++)
          passed |= column >> k & 1;
        if (!passed) TARGETS[die][column] |= 1ull << (40 + square);
      }
    }
}

INLINE u64 next_random(u64 *state) {
  u64 x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

INLINE u64 turned(u64 track, int distance) {
  return ((track << distance) | (track >> (40 - distance))) & TRACK;
}

INLINE int stuck(u64 board) {
  u64 column = board >> 40;
  return !(board & TRACK) & !((column << 1) & ~column & 15);
}

INLINE int distance(int from, int to, const int players) {
  return players == 2 ? 20 : 10 * ((to - from) & 3);
}

INLINE u64 opponents_of(const Game *game, int player, const int players) {
  u64 seen = 0;
  for (int k = 1; k < players; k++) {
    int other = player + k < players ? player + k : player + k - players;
    seen |= turned(game->boards[other] & TRACK, distance(player, other, players));
  }
  return seen;
}

INLINE void send_home(Game *game, int player, u64 square, const int players) {
  for (int k = 1; k < players; k++) {
    int other = player + k < players ? player + k : player + k - players;
    game->boards[other] &= ~turned(square, distance(other, player, players));
  }
}

INLINE int next_player(int player, const int players) {
  return player + 1 == players ? 0 : player + 1;
}

INLINE u64 nth_bit(u64 bits, u32 n) {
#ifdef __BMI2__
  return _pdep_u64(1ull << n, bits);
#else
  while (n--) bits &= bits - 1;
  return bits & -bits;
#endif
}

// Play one decision; returns whether the game ended (a new one is then begun).
INLINE int step(Game *game, const int players) {
  int player = game->player, die, yard;
  u32 tries = game->tries;
  u64 random = game->random, own, moves, draw;
  for (;;) {
    draw = next_random(&random);
    die = (int)(((draw >> 32) * 6) >> 32) + 1;
    own = game->boards[player];
    yard = 4 - __builtin_popcountll(own);
    moves = (own << die) & ~own & TARGETS[die][own >> 40];
    if (die == 6 && yard && !(own & 1)) {
      moves = 1;  // must leave the yard
      break;
    }
    if (moves) {
      if ((own & 1) && yard && (moves >> die & 1)) moves = 1ull << die;  // must free the start
      break;
    }
    if (--tries == 0) {
      player = next_player(player, players);
      tries = stuck(game->boards[player]) ? 3 : 1;
    }
  }
  game->random = random;
  u64 opponents = opponents_of(game, player, players), target = 1, source = 0;
  if (moves != 1) {
    if (moves & opponents) moves &= opponents;  // must capture
    u32 count = (u32)__builtin_popcountll(moves);
    target = nth_bit(moves, (u32)(((u64)(u32)draw * count) >> 32));
    source = target >> die;
  }
  own ^= target | source;
  game->boards[player] = own;
  if (target & opponents) send_home(game, player, target, players);
  if ((own >> 40) == 15) {
    memset(game->boards, 0, sizeof game->boards);
    game->player = (u32)(((u64)(u32)(draw >> 16) * players) >> 32);
    game->tries = 3;
    return 1;
  }
  if (die != 6) player = next_player(player, players);
  game->player = player;
  game->tries = stuck(game->boards[player]) ? 3 : 1;
  return 0;
}

INLINE void write_observation(const Game *game, const int players, float *view) {
  for (int k = 0; k < 4; k++) {
    int other = game->player + k < (u32)players ? game->player + k : game->player + k - players;
    u64 board = k < players ? game->boards[other] : 0;
    for (int square = 0; square < 44; square++) view[44 * k + square] = (float)(board >> square & 1);
    view[176 + k] = (float)(4 - __builtin_popcountll(board));
  }
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define RUN(P)                                                                                   \
  static double run_##P(Game *games, size_t batch, double seconds, int observe, float *views) { \
    u64 decisions = 0;                                                                           \
    size_t rounds = batch >= 65536 ? 1 : 65536 / batch;                                          \
    double began = seconds_now(), now;                                                           \
    do {                                                                                         \
      for (size_t k = 0; k < rounds; k++)                                                        \
        for (size_t i = 0; i < batch; i++) {                                                     \
          step(&games[i], P);                                                                    \
          if (observe) write_observation(&games[i], P, views + 180 * i);                         \
        }                                                                                        \
      decisions += rounds * batch;                                                               \
      now = seconds_now();                                                                       \
    } while (now - began < seconds);                                                             \
    return decisions / (now - began);                                                            \
  }
RUN(2)
RUN(3)
RUN(4)

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: yardstick PLAYERS MODE BATCH SECONDS\n");
    return 2;
  }
  int players = atoi(arguments[1]), observe = !strcmp(arguments[2], "scalarobs");
  size_t batch = strtoul(arguments[3], 0, 10);
  double seconds = atof(arguments[4]);
  fill_targets();
  Game *games = aligned_alloc(64, batch * sizeof(Game));
  float *views = aligned_alloc(64, (batch * 180 * sizeof(float) + 63) / 64 * 64);
  memset(games, 0, batch * sizeof(Game));
  u64 seed = 12345;
  for (size_t i = 0; i < batch; i++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    games[i].random = (seed >> 1) | 1;
    for (int k = 0; k < 8; k++) next_random(&games[i].random);
    games[i].player = i % players;
    games[i].tries = 3;
  }
  double (*run)(Game *, size_t, double, int, float *) =
      players == 2 ? run_2 : players == 3 ? run_3 : run_4;
  run(games, batch, 0.1, observe, views);
  printf("{\"decisions_per_second\": %.0f}\n", run(games, batch, seconds, observe, views));
  return 0;
}
