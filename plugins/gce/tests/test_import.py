"""What it costs to have the plugin installed."""

import json
import subprocess
import sys

_PROBE = """
import json, sys, time
import nodewright.api
import nodewright.plugins  # the loader, which is there in any case
began = time.process_time()
import nodewright_gce.provider
print(json.dumps([time.process_time() - began, sorted(sys.modules)]))
"""


def probe():
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_what_makes_calls_is_not_loaded_before_a_provider_needs_it() -> None:
    _, modules = probe()
    assert not {"google.auth", "google.cloud", "requests", "urllib3", "urllib.request"} & set(modules)


def test_the_plugin_is_imported_in_less_than_fifty_milliseconds() -> None:
    # The best of some: others use this machine, too.
    assert min(probe()[0] for _ in range(3)) < 0.05
