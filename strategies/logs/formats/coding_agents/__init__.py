"""Sessions of coding agents in the files that they write by themselves."""
