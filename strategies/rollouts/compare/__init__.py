"""Runs of two versions compared, round by round."""
