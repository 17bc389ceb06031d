"""Steps of a review: what a change in git does to a fabric."""
