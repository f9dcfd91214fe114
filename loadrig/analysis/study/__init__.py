"""A study: several runs of one plan, and what their figures say to each research question. Pure functions of them."""
