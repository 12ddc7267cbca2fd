"""Log files as streams of lines: compression, offsets, watching, reading again."""
