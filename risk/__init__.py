"""What may happen and what it costs: pure functions on arrays, no printing, no files but its own data."""
