"""Models as judges: calibrated against people before they count."""
