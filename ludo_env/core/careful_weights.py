"""What `ludo_env.core.careful` holds its sets of squares to be worth."""

from __future__ import annotations

WEIGHTS = (
    (495, 952, 1180, -394, 2490, 2747, 2818, -629, -1897, -674, 1944, 520, 370, 326),
    (1722, 1926, 2069, 769, 2850, 2113, 3208, -1383, -2423, -1062, 536, 878, 54, 490),
    (1308, 1408, 1925, 400, 1537, 1020, 1656, -1590, -167, -435, 258, 327, 59, -767),
)
"""For two, three and four players: the worth of each of `careful.SETS`, and of a capture.

Found by ``python -m training.careful --config configs/careful.yaml``."""

VALUES = (
    (
        0.0331,
        0.0666,
        0.0303,
        -0.1325,
        0.3862,
        -0.0496,
        -0.0549,
        -0.0380,
        -0.0802,
        0.0023,
        0.0260,
        -0.0541,
        0.0231,
        0.1518,
        0.0139,
        0.0682,
    ),
    (
        0.1172,
        0.1407,
        0.0855,
        -0.1066,
        0.3544,
        -0.0324,
        -0.0641,
        -0.0791,
        -0.0940,
        -0.0525,
        -0.0245,
        -0.0346,
        0.0038,
        0.0870,
        0.0171,
        0.0737,
    ),
    (
        0.1868,
        0.1660,
        0.1037,
        -0.0450,
        0.3366,
        -0.0869,
        -0.0570,
        -0.0530,
        -0.1195,
        -0.0571,
        -0.0332,
        -0.0099,
        -0.0055,
        0.0389,
        0.0169,
        0.0647,
    ),
)
"""For two, three and four players, in logarithms of odds: what a pawn in each of `careful.SETS` is
worth, a pawn on the board, a square of progress, and to be the one about to roll.

Fitted by the same command to the outcomes of games between the weights."""
