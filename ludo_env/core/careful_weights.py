"""What `ludo_env.core.careful` holds its sets of squares to be worth."""

from __future__ import annotations

WEIGHTS = (
    (276, 295, 405, -101, 1056, 996, 1134, -176, -951, -278, 764, -37, 166),
    (1619, 2377, 3606, 1368, 2961, 2940, 3654, -2415, -1179, -1394, 1004, 1105, 499),
    (1592, 1419, 1967, 796, 1411, 1058, 881, -2227, 196, -672, 308, 265, 55),
)
"""For two, three and four players: the worth of each of `careful.SETS`.

Found by ``python -m training.careful --config configs/careful.yaml``."""

VALUES = (
    (
        0.04609,
        0.09888,
        0.04896,
        -0.02638,
        0.15035,
        0.13169,
        0.13357,
        -0.03221,
        -0.08172,
        -0.03031,
        0.02171,
        0.02066,
        0.00764,
        0.17100,
        0.01101,
        0.03194,
    ),
    (
        0.10564,
        0.10757,
        0.18330,
        0.07936,
        0.21609,
        0.18870,
        0.24444,
        -0.14416,
        -0.05621,
        -0.03907,
        0.02504,
        0.06107,
        0.00549,
        0.20163,
        0.00665,
        0.01071,
    ),
    (
        0.17570,
        0.15002,
        0.16484,
        0.09477,
        0.08204,
        0.11575,
        0.16390,
        -0.16234,
        -0.01788,
        -0.07887,
        -0.00009,
        0.02606,
        -0.02076,
        0.20834,
        0.00909,
        -0.10725,
    ),
)
"""For two, three and four players, in logarithms of odds: what a pawn in each of `careful.SETS` is
worth, a pawn on the board, a square of progress, and to be the one about to roll.

Found by the same command."""
