"""Floor 3: drawing positions."""
