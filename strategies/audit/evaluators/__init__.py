"""What evaluators of an audit read and report, and the twelve of them, one module each."""
