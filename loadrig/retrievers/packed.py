"""The texts of all chunks in one array, for retrievers that look at a text again when they are asked.

An array is mapped into memory once a machine, whatever the number of search processes; strings would be copied into
each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """`ends[n]` is where the n-th text ends in `content`, which is UTF-8."""

    content: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]

    def text(self, at: int) -> str:
        begin = self.ends[at - 1] if at else 0
        return self.content[begin : self.ends[at]].tobytes().decode("utf-8", errors="surrogatepass")


def packed(texts: Iterable[str]) -> Packed:
    """Texts in order."""
    content, ends = bytearray(), []
    for text in texts:
        content += text.encode("utf-8", errors="surrogatepass")
        ends.append(len(content))
    return Packed(np.frombuffer(bytes(content), dtype=np.uint8), np.array(ends, dtype=np.int64))
