"""Makes the modules beside it (`records.py`) importable from every test folder."""

from hypothesis import HealthCheck, settings

# How long an example takes is no property of the code: a busy machine must not turn a test red.
settings.register_profile("loadrig", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loadrig")
