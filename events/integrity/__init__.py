"""Proof that a log is whole: Merkle trees, checkpoints, signatures, checks."""
