"""Two runs, or two arms or models of one, compared question by question: what differs, and what that can be said of."""
