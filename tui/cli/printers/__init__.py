"""Things as a terminal shows them and as JSON."""
