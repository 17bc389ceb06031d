"""`comment`: keep one comment on a pull or merge request up to date."""
