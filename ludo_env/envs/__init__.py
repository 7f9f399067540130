"""Floor 3: the environments; they hold no rules."""
