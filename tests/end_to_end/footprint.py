"""How much an autoscaler keeps: what may not grow with the days, however much has happened in them."""

import functools
import resource
import sys
import tracemalloc
from collections import Counter, deque
from collections.abc import Mapping, Set
from pathlib import Path
from threading import enumerate as all_threads
from types import FunctionType, MethodType

import nodewright
import numpy as np

_OWN = "nodewright."
#: Kept up to a number of them and thrown away then, or for each node that there is: they may grow until they have come
#: to it.
_BOUNDED = {"EventWriter._told", "NodeStatus.allocatable", "NodeStatus.capacity", "Tally._counts"}
#: So many more of something are no growth.
_SLACK = 100
_CORE = str(Path(nodewright.__file__).parent)


def sizes(root):
    """How many things each container holds that our own objects keep, by class and attribute.

    And how many answers are memoised, where nothing bounds that.
    """
    counts, seen, waiting = Counter(_memoised()), set(), [("", root)]
    while waiting:
        name, thing = waiting.pop()
        if id(thing) in seen or thing is None or isinstance(thing, str | bytes | int | float | type):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            counts[name] += thing.size
        elif isinstance(thing, Mapping):
            counts[name] += len(thing)
            waiting += [(name, each) for pair in list(thing.items()) for each in pair]
        elif isinstance(thing, list | tuple | Set | deque):
            counts[name] += len(thing)
            waiting += [(name, each) for each in list(thing)]
        elif isinstance(thing, MethodType):
            waiting.append((name, thing.__self__))
        elif isinstance(thing, functools.partial):
            waiting += [(name, each) for each in (thing.func, *thing.args)]
        elif isinstance(thing, FunctionType):
            waiting += [(name, cell.cell_contents) for cell in thing.__closure__ or ()]
        elif type(thing).__module__.startswith(_OWN):
            waiting += [(f"{type(thing).__name__}.{field}", value) for field, value in _fields(thing)]
    return counts


def growing(samples):
    """What has grown all the time, from samples that were taken at regular intervals of one life.

    What is never as small again in the last quarter as it was at most in the second, after it had warmed up.
    """
    quarter = len(samples) // 4
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    return {
        name: (max(each[name] for each in second), min(each[name] for each in last))
        for name in last[-1]
        if name not in _BOUNDED
        and min(each[name] for each in last) > 1.25 * max(each[name] for each in second) + _SLACK
    }


def threads():
    """How many threads live, by name without numbers and addresses."""
    return Counter(each.name.partition("_")[0].rstrip("-0123456789").partition(" (")[0] for each in all_threads())


def resident_mb():
    """Memory of this process now, with the whole embedded world."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 2**20


def allocated_mb():
    """What lines of the core have allocated and not given back; 0 unless tracemalloc is on."""
    if not tracemalloc.is_tracing():
        return 0.0
    ours = tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(inclusive=True, filename_pattern=f"{_CORE}/*")]
    )
    return sum(each.size for each in ours.statistics("filename")) / 2**20


def _fields(thing):
    names = [*getattr(thing, "__dict__", ()), *getattr(thing, "__struct_fields__", ())]
    names += [name for kind in type(thing).__mro__ for name in _slots(kind)]
    return [(name, getattr(thing, name, None)) for name in dict.fromkeys(names)]


def _slots(kind):
    slots = kind.__dict__.get("__slots__", ())
    return [slots] if isinstance(slots, str) else slots


def _memoised():
    return {
        f"{module.__name__}.{name}": value.cache_info().currsize
        for module in list(sys.modules.values())
        if module is not None and getattr(module, "__name__", "").startswith(_OWN)
        for name, value in list(vars(module).items())
        if hasattr(value, "cache_info") and value.cache_info().maxsize is None
    }
