"""A mapping of germline.toml: JSON logs of a shape that no reader knows."""
