"""The Anthropic Messages dialect: `body` writes requests, `reader` reads streams, `usage` merges counters."""
