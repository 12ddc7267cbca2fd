"""What there is to say of each thing, as facts that terminal, screens and report paint each in its own way."""
