"""Skills, lines and candidates as frozen values."""
