"""Advice: what would help a skill, from how its runs failed."""
