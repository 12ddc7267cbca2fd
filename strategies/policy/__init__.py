"""The numbers that bind: presets and written rules."""
