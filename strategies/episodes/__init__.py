"""Episodes: what a reader makes of a log, step by step, and what is kept of it."""
