"""Trials: lines that chance switches, and what that proves."""
