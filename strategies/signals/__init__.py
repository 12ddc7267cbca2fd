"""Detectors: recurring, typed observations over episodes."""
