"""Damage at random: whatever has happened to one file, no acknowledged basket is passed over in silence."""

import random
import shutil
from collections import Counter

import pytest

from omba.errors import OmbaError
from omba.live import Inbox, Learner
from omba.store import ModelFolder
from omba.store.checkup import LEVELS, examine

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}
DAYS, BASKETS, TRIALS = 6, 20, 30


def day(number):
    return [
        {
            "id": f"{number}-{k}",
            "time": f"2017-01-{number:02d}T{k:02d}:00",
            "products": ["tea", f"p{k % 5}", f"q{k % 3}"],
        }
        for k in range(BASKETS)
    ]


def learn(folder, days, history="1d"):
    """Accept these days and learn all that is there; how many baskets the model has then."""
    inbox = Inbox(folder)
    try:
        learner = Learner(folder, history=history, settings=SETTINGS)
        try:
            for one in days:
                inbox.accept(day(one))
                learner.drain()
            return learner.model.n_baskets
        finally:
            learner.close()
    finally:
        inbox.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("damage") / "model")


def make_folder(folder):
    """Three days learned or open, and three more that only the journal holds, in several segments."""
    with pytest.MonkeyPatch.context() as small:
        small.setattr("omba.store.journal.SEGMENT_BASKETS", 30)
        learn(folder, range(1, 4))
        inbox = Inbox(folder)
        for one in range(4, DAYS + 1):
            inbox.accept(day(one))
        inbox.close()
    return folder


def hurt(file, chance):
    """Cut a file, change a byte of it, fill a part with zeros, or remove it."""
    data = bytearray(file.read_bytes())
    how, at = chance.choice(["cut", "flip", "zeros", "gone"]), chance.randrange(max(1, len(data)))
    if how == "gone":
        file.unlink()
        return how
    if how == "cut":
        del data[at:]
    elif how == "flip" and data:
        data[at] ^= 1 << chance.randrange(8)
    else:
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    file.write_bytes(data)
    return how


def try_to_learn(folder):
    """How many baskets are learned with one more day, or the sentence that tells why they are not."""
    try:
        return learn(folder, [DAYS + 1]), ""
    except OmbaError as error:
        return 0, str(error)


def damage_once(folder, copy, chance):
    """Hurt one file of a copy, and learn from it: what came of it, which is never that baskets are gone unsaid."""
    shutil.copytree(folder, copy)
    file = chance.choice([one for one in sorted(copy.rglob("*")) if one.is_file() and one.name != "lock"])
    where = file.relative_to(copy)
    how = hurt(file, chance)
    worst = max(LEVELS[one.state] for one in examine(ModelFolder(copy)))
    found, refusal = try_to_learn(copy)
    if refusal:
        assert "\n" not in refusal, f"{how} {where}"
        assert worst == 2, f"{how} {where}: refused ({refusal}), and the doctor had found nothing"
    else:
        assert found == DAYS * BASKETS, f"{how} {where}: {DAYS * BASKETS - found} baskets were lost without a word"
    shutil.rmtree(copy)
    return "refused in a sentence" if refusal else "nothing lost"


@pytest.mark.slow
def test_one_damaged_file_is_refused_in_a_sentence_or_costs_no_basket(folder, tmp_path):
    chance = random.Random(11)
    outcomes = Counter(damage_once(folder, tmp_path / f"{trial}", chance) for trial in range(TRIALS))
    print(f"{TRIALS} damages: {dict(outcomes)}")
    assert min(outcomes.values()) > TRIALS // 10
