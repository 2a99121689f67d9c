"""The version of the contract between core and plugins."""

#: A plugin class states in ``api_version`` which contract it was written for; any other version is refused at load.
API_VERSION = 1
