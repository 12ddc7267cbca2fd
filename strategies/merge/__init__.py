"""Merging logs: what other registries of germline made of skills, carried into this one through git."""
