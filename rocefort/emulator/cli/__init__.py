"""Command line of an emulated CloudEngine over SSH: sessions, views and commands."""
