"""What each VRP line says about a Device: rows of the command table, read by their formats."""
