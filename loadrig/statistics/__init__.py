"""Tests, intervals and power for comparing answers to the same questions, all by scipy and statsmodels.

Rules: the question is what is independent; its repetitions are not. So every function takes data keyed by question: one
verdict each, or the values of all its repetitions, which then count as one cluster. Data without keys is refused, and
so is a list of repetitions where one verdict belongs. Everything drawn at random has a seed. Nothing here knows a run,
a record or a unit. (Quantiles and Wilson's interval of one sample are `loadrig.stats`.)
"""
