"""The rig against a target that does nothing: how late it is, what it costs, where its ceiling lies.

`null` starts the target, `rig` keeps a whole worker busy with it, `figures` compares what both noted, `levels` says
what is measured in which order. The target runs as a process of its own and shares no code with the rig.
"""
