"""The chat completions dialect: `body` writes requests, `reader` reads streams, `usage` merges counters."""
