"""Usage: which lines of a skill or of instructions sessions loaded, met and obeyed, and what that went with."""
