"""Reports for programs and for docs: JSON, SARIF, JUnit and texts of rules."""
