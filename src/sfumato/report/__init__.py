"""Text, JSON, HTML and plots."""
