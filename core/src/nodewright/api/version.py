"""The version of the contract between core and plugins."""

#: A plugin class states the contract it was written for in ``api_version``; another major number is refused at load.
API_VERSION = 1
