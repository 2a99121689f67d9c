"""Resources of Google Cloud, as its REST API writes them: only the fields that this plugin reads."""
