"""Several runs side by side: the same figures of each in columns, what differs in their settings, pictures laid one
over another. No test: whether two runs differ by more than chance is `loadrig compare`'s to say."""
