"""What each VRP line says about a Device: a table of views and patterns, one handler a command."""
