"""What can be decided before any run: which architecture suits a corpus and its questions, what speaks against the
others, and what it would cost. No network, no key: prompts are made and counted, none is sent."""
