"""What a screening says of its plan: figures against stated limits, and by a fixed rule whether a full study pays."""
