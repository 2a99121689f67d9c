"""Machines of the double in the words of the contract."""

from nodewright.testing import a_node

CREATE = ("instance_group_managers", "create_instances")
DELETE = ("instance_group_managers", "delete_instances")
RESIZE = ("instance_group_managers", "resize")


def node(machine):
    """The node of a machine of the double."""
    return a_node(machine.name, provider_id=machine.provider_id)


def placeholder(instance):
    """What the core passes for an instance that never became a node."""
    return a_node(instance.id, provider_id=instance.id)


def states(group):
    """The states of a group's instances, by name."""
    return {each.id.rpartition("/")[2]: each.state for each in group.instances()}


def again(provider):
    """The only group after another refresh."""
    provider.refresh()
    (group,) = provider.groups()
    return group


def asked(double, verb):
    """The arguments of the calls to groups with that verb, oldest first."""
    return [each.call.arguments for each in double.requests if each.call.verb == verb]
