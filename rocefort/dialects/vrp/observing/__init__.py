"""What `display` commands show of a running CloudEngine, read strictly: text in, data out."""
