"""Start-up. Goals: `import sfumato` ≤ 150 ms CPU, `sfumato --help` ≤ 250 ms CPU."""

from __future__ import annotations

from benchmarks.measuring import cli, python


def main(quick: bool = False) -> None:
    """Minimum of several whole processes."""
    repeat = 5 if quick else 15
    print("interpreter alone ", python("pass", repeat=repeat))
    print("import sfumato    ", python("import sfumato", repeat=repeat))
    print("sfumato --help    ", cli("--help", repeat=repeat))


if __name__ == "__main__":
    main()
