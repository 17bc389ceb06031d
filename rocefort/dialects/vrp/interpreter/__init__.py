"""What a switch makes of a typed command."""
