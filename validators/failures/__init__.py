"""Study of every single failure and its impact."""
