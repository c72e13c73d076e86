"""Speed claims come from here: ratios in one run, CPU beside wall, peak memory. `python -m benchmarks --quick`."""
