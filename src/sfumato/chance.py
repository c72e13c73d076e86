"""The only sources of randomness: `Secret` for publication, `Seeded` for science.

A release made with `Seeded` is marked as not for publication. No seed is ever written anywhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Chance(Protocol):
    """A source of random order; `reproducible` tells whether someone could replay it."""

    reproducible: bool

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniformly random order of 0 … n−1."""
        ...

    def generator(self) -> np.random.Generator:
        """A NumPy generator fed from this source, for sampled worlds and workloads."""
        ...


class Secret:
    """Randomness of the operating system: what publication uses.

    >>> sorted(Secret().permutation(4).tolist())
    [0, 1, 2, 3]
    """

    reproducible = False

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Order by 64 secret bits each; ties (probability below n²/2⁶⁵) are broken by a second draw."""
        import numpy as np

        keys = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        if n > 1 and bool((ranked[1:] == ranked[:-1]).any()):
            return self.permutation(n)
        return order.astype(np.int64)

    def generator(self) -> np.random.Generator:
        """Philox keyed with 128 secret bits."""
        import numpy as np

        key = np.frombuffer(os.urandom(16), dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key))


class Seeded:
    """Reproducible randomness for science; the same seed gives the same bytes.

    >>> bool((Seeded(7).permutation(9) == Seeded(7).permutation(9)).all())
    True
    """

    reproducible = True

    def __init__(self, seed: int) -> None:
        import numpy as np

        self._generator = np.random.Generator(np.random.Philox(key=seed))

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A random order that the seed determines."""
        import numpy as np

        return self._generator.permutation(n).astype(np.int64)

    def generator(self) -> np.random.Generator:
        """The seeded generator itself; its state moves on with every use."""
        return self._generator


def chance_of(seed: int | None) -> Chance:
    """`Secret` without a seed, `Seeded` with one."""
    return Secret() if seed is None else Seeded(seed)
