"""The event log in PostgreSQL, for teams."""
