"""Commands about the registry as a whole."""
