"""Lessons of sessions that nobody labelled: what failed, what worked next, what a person keeps asking for."""
