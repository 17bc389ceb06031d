"""Results of checks, verifications, studies, tests and reviews."""
