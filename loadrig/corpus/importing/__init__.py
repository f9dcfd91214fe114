"""Corpora and questions of other makers brought into this one's layout.

One idea a file: `texts` makes a manifest for a folder of texts; `tables` reads question sets from CSV and JSON Lines;
`columns` finds out which column is what; `beir` reads the BEIR layout. What is guessed is said: each gives back what it
took for what. What is wrong in a row is an `InputError` with file, line and remedy.
"""
