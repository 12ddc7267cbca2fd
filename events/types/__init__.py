"""What can have happened: every event and the values it carries, as frozen pydantic models."""
