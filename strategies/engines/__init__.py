"""Where work is done: in this process, on other cores, on a cluster."""
