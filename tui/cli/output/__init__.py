"""What every command prints with: colour, pages, progress, exit codes."""
