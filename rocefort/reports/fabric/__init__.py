"""Reports on a fabric: findings, verification, capacity, growth and tables."""
