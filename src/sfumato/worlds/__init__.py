"""What a release leaves uncertain, one primitive each."""
