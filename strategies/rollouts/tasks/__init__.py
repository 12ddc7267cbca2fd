"""Tasks: what a person registered for an agent to do."""
