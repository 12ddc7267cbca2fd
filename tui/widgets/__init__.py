"""Widgets that screens share, one a file."""
