"""Makes the modules beside it (`records.py`) importable from every test folder."""
