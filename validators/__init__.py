"""Verification: rules over a network, routing engines, studies of failures and capacity."""
