"""The provider suite against a live account: what ``nodewright conformance`` runs."""
