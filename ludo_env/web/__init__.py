"""Floor 4: pages for a browser."""
