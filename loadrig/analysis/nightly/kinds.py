"""Which runs may be added up: of one corpus (its hash) cut in one way, one file of questions to one limit, the same
models asked in the same way, all simulated or all real, in one currency. Prices and arms' options may differ: these
are what a nightly report is there to tell."""

from __future__ import annotations

import msgspec

from loadrig.analysis.bill import currency_of
from loadrig.log import RunFolder


class Kind(msgspec.Struct, frozen=True, order=True):
    """What runs must have in common to stand in one table: real before simulated. `corpus` names it and its hash."""

    simulated: bool
    currency: str
    corpus: str
    questions: str
    models: str

    @property
    def told(self) -> str:
        """As a sentence's end."""
        return f"of {self.corpus}, {self.questions}"


def kind_of(run: RunFolder) -> Kind:
    """The kind of a run, from its manifest; where the run was simulated, any address of the simulator is alike."""
    plan, corpus = run.manifest.get("plan") or {}, run.manifest.get("corpus") or {}
    cut, asked = plan.get("corpus") or {}, plan.get("questions") or {}
    simulated = bool(run.manifest.get("simulated"))
    models = [{name: of for name, of in model.items() if not (simulated and name == "base_url")}
              for model in plan.get("model") or []]  # fmt: skip
    chunks = f"chunks of {cut.get('chunk_tokens')}, {cut.get('chunk_overlap')} over"
    limit = f", the first {asked['limit']}" if asked.get("limit") else ""
    return Kind(
        simulated=simulated,
        currency=currency_of(run) or "",
        corpus=f"corpus {corpus.get('name')} {str(corpus.get('sha256'))[:12]} in {chunks}",
        questions=f"questions {asked.get('path')}{limit}",
        models=msgspec.json.encode(models).decode(),
    )
