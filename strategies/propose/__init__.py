"""Proposers: a signal and the explore split in, a candidate edit out."""
