"""Writers of blocks: one for each form that a person reads."""
