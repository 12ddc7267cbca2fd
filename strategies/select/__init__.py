"""Which signal is answered next, and for which skill."""
