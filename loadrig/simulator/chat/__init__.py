"""Chat completions: the simulator's second dialect, from a body to a `Request` and from a `Reply` to bytes."""
