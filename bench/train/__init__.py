"""Training measured: a world with known true lines, trained by the product's own loop and by common practice."""
