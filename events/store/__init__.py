"""What every event log promises, whichever database keeps it."""
