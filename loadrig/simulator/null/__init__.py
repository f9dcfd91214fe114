"""The null target: a Messages endpoint that does nothing but send known bytes at known times, as cheaply as it can.

The rig itself is measured against it: `python -m loadrig.simulator.null --tokens 100 --first-ms 200 --step-ms 10`.
Every reply is the same; nothing of the request matters but its length and its `x-loadrig-attempt` header. What really
happened to each request, `GET /_truth` answers. Imports nothing of loadrig.
"""
