"""Rollouts: real runs of an agent with a skill, in isolation, graded by what a person registered."""
