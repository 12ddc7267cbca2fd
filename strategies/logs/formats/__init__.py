"""Readers: one per log format, all turning into the same episodes."""
