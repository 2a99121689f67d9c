"""An expander for Nodewright that grows where the data lives."""
