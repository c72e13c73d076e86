"""The independent verifier: re-reads written bytes with code of its own."""
