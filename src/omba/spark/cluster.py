"""Cluster: a quiet Spark session whose workers run this Python, or the one that is there already."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omba.errors import MissingExtraError, SparkError

JAVA = 17
QUIET = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n
logger.cluster.name = org.apache.spark.deploy
logger.cluster.level = off
logger.scheduler.name = org.apache.spark.scheduler
logger.scheduler.level = off
logger.executor.name = org.apache.spark.executor
logger.executor.level = off
logger.storage.name = org.apache.spark.storage
logger.storage.level = off
logger.network.name = org.apache.spark.network
logger.network.level = off
"""
"""What executors log about failing tasks comes back as an exception anyway, which says it in one sentence."""


def session(master: str = "local[*]", **conf: str | int) -> Any:
    """A session on a master, made for work in Arrow and many small jobs.

    `conf` are further settings of Spark, with `__` for the dots: `spark__executor__memory="4g"`. A session that is
    there already is given as it is.

    Parameters
    ----------
    master
        Spark's address: `local[2]` for two cores of this machine, `yarn`, `spark://…`.
    conf
        Settings of Spark.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]", spark__driver__memory="4g")  # doctest: +SKIP
    """
    check()
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    if there is not None:
        return there
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1" if master.startswith("local") else "")
    builder = SparkSession.builder.appName("omba").master(master)
    for name, value in (settings(master) | {name.replace("__", "."): value for name, value in conf.items()}).items():
        builder = builder.config(name, value)
    with quietly():
        return builder.getOrCreate()


def settings(master: str) -> dict[str, str | int]:
    """Settings of our own sessions, each with its reason."""
    log4j = Path(tempfile.gettempdir()) / f"omba-log4j-{os.getuid() if hasattr(os, 'getuid') else 0}.properties"
    log4j.write_text(QUIET)
    quiet = f"-Dlog4j2.configurationFile={log4j.as_uri()} -Dlog4j.configurationFile={log4j.as_uri()}"
    ours: dict[str, str | int] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.extraJavaOptions": quiet,
        # Windows are small: to wait for a better place, or for a heartbeat's turn, would take longer than the work.
        "spark.locality.wait": "0s",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": 8,
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.maxResultSize": "2g",
    }
    if master.startswith("local"):
        ours |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        # Executors of a local cluster are on this machine, and can read the file.
        ours["spark.executor.extraJavaOptions"] = quiet
    return ours


def check() -> None:
    """Refuse, in a sentence, where PySpark or Java is missing."""
    try:
        import pandas  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'omba[spark]'") from None
    found = java_version()
    if found is None:
        raise SparkError(f"Spark needs Java {JAVA} or newer, and there is none: install it, or set JAVA_HOME")
    if found < JAVA:
        raise SparkError(f"Spark needs Java {JAVA} or newer, and this one is {found}: install it, or set JAVA_HOME")


def java_version() -> int | None:
    """The major version of the Java that Spark would start, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        return None
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', output)
    if match is None:
        return None
    return int(match[2]) if match[1] == "1" and match[2] else int(match[1])


@contextmanager
def quietly() -> Iterator[None]:
    """Without PySpark's warning about pandas 3: rows go by Arrow here, and no pandas object is ever made."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def map_arrow(frame: Any, function: Any, schema: str) -> Any:
    """`mapInArrow`, quietly."""
    with quietly():
        return frame.mapInArrow(function, schema)


def to_arrow(frame: Any) -> Any:
    """`toArrow`, quietly."""
    with quietly():
        return frame.toArrow()
