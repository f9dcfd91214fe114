"""loadrig: a distributed, asynchronous load and latency tester for grounded question answering."""

__version__ = "0.1.0"
