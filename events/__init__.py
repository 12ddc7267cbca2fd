"""The event log: what happened, in order, for ever."""
