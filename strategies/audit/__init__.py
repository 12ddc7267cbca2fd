"""Audits: what a skill changes in what an agent does, passage by passage, from runs with it and without."""
