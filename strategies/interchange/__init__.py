"""Formats of other registries of skills."""
