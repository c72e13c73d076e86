"""Questions to a release's worlds."""
