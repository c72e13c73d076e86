"""The report of a release: what it is, promises and leaves open, in plain words."""
