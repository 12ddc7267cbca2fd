"""Commands that find, propose and judge change."""
