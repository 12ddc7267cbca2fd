"""The registry as the command line and the screens hold it open."""
