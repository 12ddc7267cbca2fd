"""Scope: which logs and signals belong to which skill."""
