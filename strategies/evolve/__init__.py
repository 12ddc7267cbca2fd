"""Turns of evolution: from a signal to a verdict."""
