"""Review of a change in git: what it does to a fabric, in every format."""
