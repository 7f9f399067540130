"""Floor 4: games that people play, alone, together, or against agents."""
