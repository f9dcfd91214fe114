"""An arm that asks like the control arm, until somebody puts a file where it looks: then it blocks its worker, and says
which that is."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from loadrig.arms.control import Control
from loadrig.words.arm import Answer, Client
from loadrig.words.corpus import Corpus, Question


@dataclass(frozen=True, slots=True)
class Blocking:
    """`flag` is the file; the first worker that sees it puts its process id behind the name and stands still for a
    minute."""

    flag: str

    @property
    def name(self) -> str:
        return "blocking"

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ()

    def prompt_tokens(self, corpus: Corpus) -> int:
        return Control().prompt_tokens(corpus)

    async def answer(self, question: Question, client: Client) -> Answer:
        answer = await Control().answer(question, client)
        self._stand_still()
        return answer

    def _stand_still(self) -> None:
        try:
            Path(self.flag).rename(f"{self.flag}.{os.getpid()}")
        except FileNotFoundError:
            return
        time.sleep(60)
