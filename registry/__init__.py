"""What is true now, what was true at any version, and why."""
