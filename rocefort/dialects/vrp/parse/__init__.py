"""Parser from VRP text to a Device."""
