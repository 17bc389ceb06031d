"""The report page: one HTML file that shows a whole fabric."""
