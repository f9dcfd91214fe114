"""What a run shows while it lasts: the metrics endpoint, the progress view and the dashboard that reads the metrics."""
