"""The hot loops: arrays in, arrays out; every kernel has a slow twin in tests/oracles."""
