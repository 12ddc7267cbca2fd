"""The statistics of the gate, each tested against a reference."""
