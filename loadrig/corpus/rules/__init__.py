"""What a corpus, its ledger and its questions promise, as rules that need no reader: `table` lists them.

One idea a file: `subject` prepares what the rules look at, `outcome` is what they say; `key` holds for any question
file, `rests` for keys that rest on a ledger; `history`, `documents`, `likeness` and `hardened` hold the texts to it.
"""
