"""A provider for Nodewright: machines in the racks of a shed."""
