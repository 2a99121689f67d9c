"""``python -m nodewright``: the same as the command ``nodewright``."""

import sys

from nodewright.cli.main import main

sys.exit(main())
