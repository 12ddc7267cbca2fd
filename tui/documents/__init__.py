"""Documents: what every command prints for `--json`, as typed models that the published schemas are made of."""
