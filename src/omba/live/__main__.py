"""The learner's process; see `omba.live.process`."""

import sys

from omba.live.process import serve

sys.exit(serve(sys.stdin.buffer))
