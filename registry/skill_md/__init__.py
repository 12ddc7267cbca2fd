"""SKILL.md folders: read, checked, rendered, written."""
