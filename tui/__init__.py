"""germline's screens and command line: the only floor that talks to a person."""

__version__ = "0.1.0"
