"""Evidence: recorded, redacted, quoted."""
