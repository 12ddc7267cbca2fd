"""Views: state turned into rows of plain text with tones; pure, and without any screen library."""
