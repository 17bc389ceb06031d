"""Steps of the demonstrations."""
