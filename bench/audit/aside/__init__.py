"""Worlds that an audit is measured in and that nobody tries by hand: domains, skills, and their agent."""
