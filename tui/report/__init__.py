"""The report: a registry as one HTML page that needs nothing but itself."""
