"""Research: files are changed by experiments, measured beside what they were, and kept or put back."""
