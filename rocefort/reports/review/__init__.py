"""Reports of a review of a change."""
