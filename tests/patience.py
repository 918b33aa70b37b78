"""Waiting for what is to come, however busy the machine is: only a test that fails waits for so long."""

import time

import pytest

PATIENCE = 120
"""Seconds after which nothing is waited for any more."""


def wait_until(condition):
    """Wait until something is so."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > PATIENCE:
            pytest.fail(f"it did not come to that in {PATIENCE} s")
        time.sleep(0.02)
