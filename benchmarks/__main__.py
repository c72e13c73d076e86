"""Run the benchmarks: `python -m benchmarks [--quick] [name …]`."""

from __future__ import annotations

import argparse
from importlib import import_module

NAMES = ("startup", "mondrian", "lattice", "whole", "answers", "peers")


def main() -> None:
    """Each benchmark prints its own lines; a failing one stops the run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], default=[], help="which ones (default: all)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    asked = parser.parse_args()
    for name in asked.names or NAMES:
        print(f"== {name}")
        import_module(f"benchmarks.{name}").main(quick=asked.quick)


if __name__ == "__main__":
    main()
