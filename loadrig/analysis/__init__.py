"""The read side's arithmetic: from a run's folder to its summary. No network, no key, no Ray; nothing is written."""
