"""Floor 3: exact play of small games: their solution, and how far policies are from it."""

from ludo_env.solution import Solution
from ludo_env.solver.rates import WinRates, best_response, judge, win_probability
from ludo_env.solver.regret import Blunder, Regret, regret
from ludo_env.solver.solving import Sweep, solve

__all__ = [
    "Blunder",
    "Regret",
    "Solution",
    "Sweep",
    "WinRates",
    "best_response",
    "judge",
    "regret",
    "solve",
    "win_probability",
]
