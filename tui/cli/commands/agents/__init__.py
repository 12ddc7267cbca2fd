"""The server that agents ask, and the command that starts it."""
