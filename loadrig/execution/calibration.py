"""How a provider counts tokens against our estimate: asked of its count_tokens, before a run, for a few prompts.

One request for each kind of arm and model at most, with the real head and the body of the first question's prompt
(without tools, which are paid for by a rule of their own). It is no measured turn and goes the outside way. Where it
cannot be had, the estimate stands on its stated constant and says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from loadrig.execution.estimate import TOKEN_RATIO, Ratios
from loadrig.execution.sampling import Sample, tokens_of
from loadrig.outside import post_json
from loadrig.wire.certificates import context_of
from loadrig.wire.turn import Target
from loadrig.words.errors import InputError
from loadrig.words.prompt import Prompt

LIMIT_S = 10.0


def calibrated(samples: Sequence[Sample], targets: Mapping[str, Target]) -> Ratios:
    """The ratios that the endpoints of the models give. Blocks; not for the event loop. Raises nothing."""
    by_kind: dict[tuple[str, str], Decimal] = {}
    by_model: dict[str, Decimal] = {}
    notes: list[str] = []
    kinds = {sample.kind: sample for sample in reversed(samples) if sample.prompt is not None}
    for model, target in targets.items():
        largest = 0
        try:
            for kind, sample in kinds.items():
                assert sample.prompt is not None
                prompt = replace(sample.prompt, tools=())
                local, told = tokens_of(prompt), counted(prompt, target)
                ratio = (Decimal(told) / max(1, local)).quantize(Decimal("0.0001"))
                if not sample.prompt.tools:
                    by_kind[kind, model] = ratio
                if told > largest:
                    largest, by_model[model] = told, ratio
        except InputError as error:
            by_kind = {key: ratio for key, ratio in by_kind.items() if key[1] != model}
            by_model.pop(model, None)
            why = " ".join(target.head.redacted(error.problem).split())[:200]
            notes.append(f"tokens of {model} are estimated as {TOKEN_RATIO} x the local count: {why}")
    return Ratios(by_kind, by_model, tuple(notes))


def counted(prompt: Prompt, target: Target) -> int:
    """The provider's count of a prompt's tokens. Blocks. Raises `InputError` when there is none."""
    endpoint = target.dialect.endpoint
    url = target.count_url
    if url is None:
        raise InputError("its provider counts no tokens beforehand", remedy="none is needed")
    body = msgspec.json.decode(b"".join(target.dialect.body(prompt, target.model)), type=dict[str, msgspec.Raw])
    kept = {key: value for key, value in body.items() if key not in endpoint.count_without}
    head = target.head
    proxy = None if head.proxy is None else head.proxy.url
    tls = context_of(head.certificates) if head.origin[0] == "https" else None
    answer = post_json(url, msgspec.json.encode(kept), head.fields, timeout_s=LIMIT_S, proxy=proxy, tls=tls)
    found = answer.get("input_tokens") if isinstance(answer, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise InputError(f"{url} answered without a count", remedy="none is needed")
    return found
