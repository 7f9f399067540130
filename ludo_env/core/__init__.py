"""Floor 1: the rules, the dice and the games; numpy and numba only."""
