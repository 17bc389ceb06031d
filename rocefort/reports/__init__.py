"""What a person or a program reads: reports as terminal text and as JSON."""
