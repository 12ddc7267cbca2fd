"""The fold of the log into documents, snapshots and any earlier version."""
