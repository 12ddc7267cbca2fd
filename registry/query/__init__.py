"""Questions to the projection: library, provenance, search, differences."""
