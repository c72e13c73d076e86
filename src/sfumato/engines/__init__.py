"""Who does the bulk work."""
