"""The gate: measurements in, a verdict out."""
