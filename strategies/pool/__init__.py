"""The pool of episodes that a registry keeps: intake, splits, late outcomes, erasure."""
