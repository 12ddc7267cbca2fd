"""SKILL.md folders, and files of instructions: read, checked, rendered, written."""
