"""What comes out: one release form each, and the package on disk."""
