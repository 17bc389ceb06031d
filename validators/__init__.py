"""Is it right? Rules over a network, routing engines, and studies of failures and capacity."""
