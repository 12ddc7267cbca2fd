"""Tiers of lines: what is offered as seen, and what lets a line climb or takes it back."""
