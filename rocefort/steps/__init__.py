"""The steps that commands are made of: they join rooms that do not know each other."""
