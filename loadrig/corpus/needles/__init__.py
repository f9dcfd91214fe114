"""Probes of long contexts over any corpus: needles planted in its documents, and questions whose truth is thus known.

A probe is a sentence or several that were made here, each a paragraph of its own between paragraphs of the corpus, or a
sheet that is a document of its own; what it is about has an invented name and a drawn figure that stand nowhere else.
"""
