"""Commands in, events out: the rules of every change."""
