"""Commands about skills and their history."""
