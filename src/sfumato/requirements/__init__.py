"""Privacy models, one short file each."""
