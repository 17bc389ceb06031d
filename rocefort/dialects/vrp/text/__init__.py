"""VRP text: its tree of lines, its names and its secrets."""
