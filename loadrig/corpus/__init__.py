"""Any folder of texts as a corpus: `load(settings)` reads, dates, orders and chunks it.

One idea a file: `loading` puts it together; `folder` finds the files; `reading` turns a file into text; `manifest`
and `slices` read the two optional files; `chunking` cuts windows of tokens; `view` is what one caller may see;
`checks` looks for faults of a corpus and its questions before any run. Knows no questions (but for `checks`), no
retriever and no model.
"""

from loadrig.corpus.loading import load

__all__ = ["load"]
