"""Tasks: the questions that methods can be asked, by name.

hidden      find a hidden product of a basket among ten others (the paper's test)
complete    find a hidden product of a basket among all products
next        find what a customer's next basket holds
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from omba.baskets import Baskets, Every
from omba.baskets.windows import DEFAULT_COUNT
from omba.errors import InputError, nearest
from omba.evaluation.completion import Completion
from omba.evaluation.next_basket import NextBasket
from omba.evaluation.retrieval import Task

AnyTask = Task | Completion | NextBasket

TASKS: dict[str, type[Task] | type[Completion] | type[NextBasket]] = {
    task.name: task for task in (Task, Completion, NextBasket)
}

FEWEST = 20
"""Baskets a window must have where there is no time to cut them by: negatives come from its other baskets."""
WINDOWS = 5
"""A quarter of the windows that a stream without time is cut into, where the task itself asks about none."""


def make_task(name: str, options: Mapping[str, Any]) -> AnyTask:
    """A task by its name; options of None are left at its own defaults, and those of another task are refused."""
    if name not in TASKS:
        raise InputError(f"there is no task {name!r}{nearest(name, TASKS)}: give one of {', '.join(TASKS)}")
    task = TASKS[name]
    given = {option: value for option, value in options.items() if value is not None}
    known = {each.name for each in fields(task)}
    for option in given:
        if option not in known:
            owners = [other for other, kind in TASKS.items() if option in {each.name for each in fields(kind)}]
            said = f"is an option of the task {' and of '.join(owners)}, not of {name}" if owners else "is no option"
            raise InputError(f"{option} {said}: leave it out")
    if "users" in given:
        given["users"] = tuple(given["users"])
    return task(**given)


def adapt(baskets: Baskets, task: AnyTask) -> tuple[AnyTask, list[str]]:
    """The task as these baskets allow it, and in words what is different.

    Without time, windows are numbers of baskets: as many as give twice the windows asked for in the second half.
    """
    notes = []
    if baskets.user_codes is None and not isinstance(task, NextBasket):
        notes.append("these baskets have no users: all methods go by the rest of the basket alone")
    if baskets.times is None and Every.parse(task.every).unit != "baskets":
        windows = WINDOWS if isinstance(task, NextBasket) else task.windows
        count = int(np.clip(len(baskets) // (4 * windows), FEWEST, DEFAULT_COUNT))
        notes.append(f"these baskets have no time: they are taken as they come, in windows of {count:,} baskets")
        task = replace(task, every=count)
    return task, notes
