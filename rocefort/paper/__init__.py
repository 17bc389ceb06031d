"""`paper`: tables of the published systems beside simulations and stored runs."""
