"""Traces of agents: spans, runs and observations, turned into conversations."""
