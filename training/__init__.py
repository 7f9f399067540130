"""Floor 5: training scripts, used from a clone."""
