"""Versions in use: rechecked, picked, reviewed, rolled back."""
