"""Names that nobody registered: what was meant, and what to install."""

from collections.abc import Sequence

from nodewright.api.nearest import nearest

#: Distributions that are known to have an implementation, by kind and name.
DISTRIBUTIONS = {
    ("commands", "demo"): "nodewright-fake",
    ("commands", "world"): "nodewright-fake",
    ("expanders", "grpc"): "nodewright-grpc",
    ("expanders", "least-cost"): "nodewright-least-cost",
    ("providers", "aws"): "nodewright-aws",
    ("providers", "fake"): "nodewright-fake",
}
#: Names that are still to be implemented. No package is named for them: anybody might take its name.
COMING = frozenset({("providers", "azure"), ("providers", "clusterapi"), ("providers", "gce")})


def advice(kind: str, name: str, names: Sequence[str]) -> str:
    """Say what to do about *name* that is none of *names*, those installed of *kind* (a key of `KINDS`)."""
    if distribution := DISTRIBUTIONS.get((kind, name)):
        return f"install it with: pip install {distribution}"
    if (kind, name) in COMING:
        return "it is still to come; until then, whoever needs it has to write it"
    elsewhere = [known for of_kind, known in (*DISTRIBUTIONS, *COMING) if of_kind == kind]
    near = nearest(name, [*names, *elsewhere])
    if near in names:
        return f"did you mean {near!r}?"
    if (kind, near) in COMING:
        return f"did you mean {near!r}? It is still to come"
    if near:
        return f"did you mean {near!r}? Install it with: pip install {DISTRIBUTIONS[kind, near]}"
    return f"there is {', '.join(names)}" if names else "none is installed"
