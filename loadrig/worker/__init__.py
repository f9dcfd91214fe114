"""The worker: one asyncio loop that keeps its share of trials in flight. A plain class; Ray only wraps it."""
