"""The command line (Typer); nothing here imports textual."""
