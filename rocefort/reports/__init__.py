"""Reports for users and programs: blocks of content, and their text, Markdown, HTML and JSON."""
