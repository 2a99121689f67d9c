"""What others read over HTTP."""
