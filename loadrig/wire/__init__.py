"""The wire: sends a prompt, stamps what comes back as it arrives, and turns whatever goes wrong into data.

What a worker uses:

    from loadrig.wire.engine import Engine
    from loadrig.wire.turn import Asked, Asker, Target, resolve

    target = await resolve(model, base_url)         # Target(model, dialect, head, warnings); loads the SDK once,
                                                    # off the loop; base_url None: the provider's own
    async with Engine(SystemClock()) as engine:     # one a worker: the connections of all its models
        asker = Asker(engine, target, limits, retry)
        asked = await asker.ask(prompt, trace="trial.turn", deadline_ns=None)
        asked.turn        # words.record.Turn; cost is left None
        asked.reply       # words.prompt.Reply, or None when the turn failed
        asked.fragments   # hash -> bytes of every fragment in turn.prompt
        engine.stop()     # ends what is in flight as failed/cancelled, as data; nothing is sent any more

For what needs the official SDK whole: `anthropic_client.anthropic_client(engine, target)`, and `transport`.

`ask` never raises for what the target does. Cancelling its task closes the connection and raises CancelledError.
Rules, limits and what is not covered: docs/wire.md. Knows no arms, no trials and no prices.
"""
