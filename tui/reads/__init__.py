"""What screens and report show, read from a library in one go."""
