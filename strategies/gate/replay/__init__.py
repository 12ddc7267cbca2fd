"""Replay: what logged episodes say of a claim or a version."""
