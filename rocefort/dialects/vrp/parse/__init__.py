"""From VRP text to a Device."""
