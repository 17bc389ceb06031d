"""`experiment`: levels of one factor, compared by repeated runs in the order AB BA."""
