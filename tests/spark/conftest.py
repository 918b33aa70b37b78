"""One Spark session for all tests, on a local cluster of two executors, and the baskets they learn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

import omba
from omba import spark
from omba.baskets import Baskets
from omba.errors import MissingExtraError, SparkError
from omba.spark.cluster import check


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    try:
        check()
    except (MissingExtraError, SparkError) as error:
        pytest.skip(str(error))
    # Tests are many small jobs: to compile them well would take longer than to run them.
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    small = {"spark__sql__shuffle__partitions": 2, "spark__sql__codegen__wholeStage": "false"}
    made = spark.session("local-cluster[2,1,2048]", spark__executor__memory="1g", **small)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def world() -> Baskets:
    return omba.datasets.synthetic(baskets=1500, products=300, users=150, days=5).baskets


@pytest.fixture(scope="session")
def journey() -> Baskets:
    return omba.datasets.complete_journey()
