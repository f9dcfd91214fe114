"""Corpora made from a corpus and its ledger: hardened, enlarged, renamed. The facts and their truth stay the same.

One idea a file: `edition` is a corpus with ledger and questions, read whole; `asked` changes question lines; `dates`
and `references` know how papers cite one another; `appendix` requotes what no longer holds; `opaque` makes names of
files that say nothing; `naming` invents names; `sister`, `amounts` and `recombining` make the papers of another project
out of this one's; `harden`, `rename` and `enlarge` put these together; `telling` says how a variant was made.

Rules: same input and seed, same bytes; a random choice hangs on the seed and on what it is about, never on the order of
work. Knows English papers only, where words are added or dates are read.
"""
