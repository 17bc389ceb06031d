"""Steps of the commands; they join packages that do not import each other."""
