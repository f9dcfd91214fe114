"""The words every other part speaks: types, errors and the clock. Imports nothing of loadrig but itself."""
