"""Steps for the repository of a site."""
