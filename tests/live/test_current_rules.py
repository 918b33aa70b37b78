"""What is published of a state is worked out once, and is what a look over everything finds."""

from collections import Counter

import pytest

import omba
from omba.live import Inbox, Learner, current_rules
from omba.live.current_rules import CurrentRules, look_over
from omba.rules.mining_input import MiningInput
from omba.service.views import published
from omba.service.views.published import Published
from omba.store import ModelFolder

SMALL = {"dim": 8, "epochs": 1, "pairs": 20_000}


@pytest.fixture(scope="module")
def days():
    world = omba.datasets.synthetic(baskets=6_000, products=200, users=40, days=40, pairs=20, seed=4)
    return list(world.baskets.windows("1d"))


@pytest.fixture
def few(monkeypatch):
    """A table that is small beside the world, so that it matters which rules are in it."""
    monkeypatch.setattr(current_rules, "RULES", 200)
    monkeypatch.setattr(current_rules, "KNOWN", 100)


def sides(rules):
    return set(zip(rules.antecedents, rules.consequents, strict=True))


@pytest.mark.slow
def test_window_by_window_the_rules_are_those_of_a_look_over_everything(days, few):
    model, current, same, asked = omba.OMBA(**SMALL), CurrentRules(every=10), 0, 0
    for number, day in enumerate(days):
        model.partial_fit(day)
        current.note(model, day)
        if number < 8:
            continue
        found, since = current.of(model), (number - 8) % 11
        if since not in (0, 5, 10):
            continue
        wanted = look_over(model)
        same, asked = same + len(sides(found) & sides(wanted)), asked + len(wanted)
        if since == 0:
            assert found.to_pandas().equals(wanted.to_pandas()), f"a look was due after window {number}"
    assert same >= 0.99 * asked


@pytest.mark.slow
def test_rules_asked_for_now_and_then_know_every_window_in_between(days, few):
    model, current = omba.OMBA(**SMALL), CurrentRules(every=30)
    for number, day in enumerate(days):
        model.partial_fit(day)
        current.note(model, day)
        if number in (8, 20):
            current.of(model)
    found, wanted = current.of(model), look_over(model)
    assert len(sides(found) & sides(wanted)) >= 0.99 * len(wanted)


def test_windows_learned_without_a_note_lead_to_a_look_over_everything(days, few):
    model, current = omba.OMBA(**SMALL), CurrentRules()
    for number, day in enumerate(days[:20]):
        model.partial_fit(day)
        if number == 8:
            current.of(model)
    assert current.of(model).to_pandas().equals(look_over(model).to_pandas())


def test_between_two_looks_nobody_searches_for_the_nearest_of_all_pairs(days, few, monkeypatch):
    model, current = omba.OMBA(**SMALL), CurrentRules()
    for day in days[:20]:
        model.partial_fit(day)
        current.note(model, day)
    before, searched = current.of(model), []
    real = MiningInput.nearest
    monkeypatch.setattr(
        MiningInput, "nearest", lambda given, among, *rest: searched.append(among.sum()) or real(given, among, *rest)
    )

    model.partial_fit(days[20])
    current.note(model, days[20])
    after = current.of(model)

    assert after.hashing == before.hashing
    assert after.n > before.n
    assert all(many < len(model.products) for many in searched), "but for those among which the unseen are looked for"


@pytest.fixture
def counted(monkeypatch):
    """How often each state was looked at, by the number of its baskets."""
    looks, real = Counter(), current_rules.compose

    def compose(model, best, seldom=True):
        looks[model.n_baskets] += 1
        return real(model, best, seldom)

    monkeypatch.setattr(current_rules, "compose", compose)
    return looks


def test_a_state_that_is_recorded_published_and_served_is_mined_once(tmp_path, counted):
    world = omba.datasets.synthetic(baskets=400, products=60, users=10, days=4, pairs=4, seed=2).baskets
    inbox, learner = Inbox(tmp_path), Learner(tmp_path, settings=SMALL)
    view = Published(tmp_path)
    for window in world.windows("1d"):
        inbox.accept([{"time": b.time.isoformat(), "products": list(b.products)} for b in window])
        learner.drain()
        view.look()
    learner.close()
    inbox.close()

    assert len(ModelFolder(tmp_path).history.entries) == 3
    assert view.view.n_baskets == learner.model.n_baskets > 0
    assert len(view.view.rule_index) > 0
    assert len(counted) == 3
    assert set(counted.values()) == {1}


def test_a_service_that_starts_does_not_mine_what_the_snapshot_carries(tmp_path, monkeypatch):
    world = omba.datasets.synthetic(baskets=400, products=60, users=10, days=4, pairs=4, seed=2).baskets
    model = omba.OMBA(**SMALL).fit(world)
    ModelFolder(tmp_path).save(model, look_over(model))
    monkeypatch.setattr(published, "look_over", lambda model: pytest.fail("it has the rules already"))

    view = Published(tmp_path)
    view.start()
    view.stop()

    assert len(view.view.rule_index) > 0


def test_a_service_mines_the_rules_of_a_model_that_was_saved_without_them(tmp_path, counted):
    world = omba.datasets.synthetic(baskets=400, products=60, users=10, days=4, pairs=4, seed=2).baskets
    ModelFolder(tmp_path).save(omba.OMBA(**SMALL).fit(world))

    view = Published(tmp_path)
    view.start()
    view.stop()

    assert len(view.view.rule_index) > 0
    assert counted == {400: 1}
