"""The rights that the manifests grant, judged as an API server judges them."""

from dataclasses import dataclass

from nodewright.cli.manifests import manifests
from nodewright.config.document import load

CONFIG = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake]\n"
#: Everybody may ask for these, by roles that every cluster has.
_FOR_ALL = "authorization.k8s.io"


@dataclass(frozen=True, order=True)
class Right:
    """One verb on one resource; a name or namespace that is empty stands for all of them."""

    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def covers(self, asked):
        """Whether it allows what is asked."""
        return (
            (self.group, self.resource, self.verb) == (asked.group, asked.resource, asked.verb)
            and self.namespace in ("", asked.namespace)
            and self.name in ("", asked.name)
        )


class Rights:
    """The rights of the manifests for *settings*; remembers which of them were used, and what was refused."""

    def __init__(self, settings="limits: {capacityQuotas: true}"):
        text = CONFIG + settings
        self.granted = set(_granted(manifests(load(text).settings, text)))
        self.used = set()
        self.refused = set()

    def authorize(self, request):
        """Judge a request, as the embedded API server wants it."""
        asked = _asked(request)
        if asked is None or asked.group == _FOR_ALL:
            return None
        found = {right for right in self.granted if right.covers(asked)}
        if not found:
            self.refused.add(asked)
            return "no rule of the manifests allows it"
        self.used |= found
        return None


def _granted(objects):
    for role in objects:
        if role["kind"] in ("ClusterRole", "Role"):
            namespace = role["metadata"].get("namespace", "")
            for rule in role["rules"]:
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        for verb in rule["verbs"]:
                            for name in rule.get("resourceNames", [""]):
                                yield Right(group, resource, verb, namespace, name)


def _asked(request):
    """What a request asks for; None for paths beside the resources, such as discovery."""
    target = request.target
    if target is None or not target.plural:
        return None
    # A list or watch of one name is a right to that name.
    selected = request.query.get("fieldSelector", "").partition("metadata.name=")[2]
    resource = "/".join(filter(None, (target.plural, target.subresource)))
    return Right(target.group, resource, request.verb, target.namespace, target.name or selected)
