"""The service: every answer is what the model, its rules and its history say, asked in plain Python."""

import json
from base64 import urlsafe_b64encode
from collections import Counter
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omba
from omba.model.clues import field, name_columns
from omba.model.questions import memory_of
from omba.rules import Filter
from omba.rules.order import rank_numbers
from omba.rules.rules_table import read_rules
from omba.service.fast_path import FastPath
from omba.service.views.published import Published
from omba.service.views.rule_index import NUMBERS, RuleIndex, plain_columns
from omba.service.views.rule_key import key_of, read_key
from omba.service.views.suggest import blend_of, exact_features, parts_of, rough_scores, suggest
from omba.store import ModelFolder
from patience import wait_until
from serving import WORLD, learn, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("service") / "model"


@pytest.fixture(scope="module")
def model(folder):
    return learn(folder)


@pytest.fixture(scope="module")
def client(folder, model):
    with served(folder) as client:
        yield client


@pytest.fixture(scope="module")
def history(folder, model):
    return ModelFolder(folder).history


@pytest.fixture(scope="module")
def table(history):
    return read_rules(history.entries[-1].rules)


def get(client, path, expected=200, **params):
    answer = client.get(path, params=params)
    assert answer.status_code == expected, answer.text[:300]
    return answer.json()


def sides(rules):
    return [(tuple(rule["antecedents"]), tuple(rule["consequents"])) for rule in rules]


def low_ends(rules):
    """The low ends of the lifts to expect, as rules are ranked by them."""
    lows = np.array([rule["expected_lift_low"] for rule in rules])
    return rank_numbers("expected_lift_low", lows).round(9).tolist()


def test_the_status_tells_what_was_learned(client, model, history):
    told = get(client, "/status")
    assert told["baskets_learned"] == told["baskets_accepted"] == len(WORLD.baskets)
    assert (told["windows_closed"], told["products"], told["users"]) == (28, len(model.products), len(model.users))
    assert [one["baskets"] for one in told["history"]] == [entry.n_baskets for entry in history.entries]
    assert told["settings"]["dim"] == 16
    assert told["memory"] > 10_000_000


def test_rules_come_best_first_with_every_measure(client, table):
    page = every_rule(client)
    assert len(page) > len(table), "kept rules are a few of all"
    lows = low_ends(page)
    assert lows == sorted(lows, reverse=True)
    there = dict(zip(sides(page), page, strict=True))
    for name in ("lift", "leverage", "support", "expected_lift_low", "conviction"):
        values = table.column(name)
        shown = [np.nan if (value := there[side][name]) is None else value for side in table.sides]
        np.testing.assert_allclose(shown, np.where(np.isfinite(values), values, np.nan), rtol=1e-5, err_msg=name)


def every_rule(client, **params):
    """All pages one after another."""
    found, page = [], None
    while page is None or page["rules"]:
        page = get(client, "/rules", limit=1000, offset=len(found), **params)
        found += page["rules"]
    assert len(found) == page["total"]
    return found


@pytest.mark.parametrize(
    ("params", "keeps"),
    [
        ({"min_lift": 5}, lambda rule: rule["lift"] is not None and rule["lift"] >= 5),
        ({"max_support": 0.01, "status": "observed"}, lambda r: r["support"] <= 0.01 and r["status"] == "observed"),
        ({"text": "1 p"}, lambda r: all(word in " ".join(r["antecedents"] + r["consequents"]) for word in "1p")),
        ({"min_price": 3, "max_price": 9}, None),
    ],
)
def test_a_filter_keeps_what_fulfils_it_and_nothing_else(client, model, params, keeps):
    everything, kept = every_rule(client), {"rules": every_rule(client, **params)}
    if keeps is None:
        price = dict(zip(model.products, model.prices.means, strict=True))
        keeps = lambda r: all(3 <= price[p] <= 9 for p in r["antecedents"] + r["consequents"])  # noqa: E731
    expected = [rule for rule in everything if keeps(rule)]
    assert 0 < len(expected) < len(everything)
    assert {rule["key"] for rule in kept["rules"]} == {rule["key"] for rule in expected}
    lows = low_ends(kept["rules"])
    assert lows == sorted(lows, reverse=True)


def test_rules_are_found_by_their_products_on_either_side(client):
    everything = get(client, "/rules", limit=1000)["rules"]
    antecedent, consequent = everything[3]["antecedents"][0], everything[3]["consequents"][0]
    for params, keeps in (
        ({"antecedent": antecedent}, lambda r: antecedent in r["antecedents"]),
        ({"consequent": consequent}, lambda r: consequent in r["consequents"]),
        ({"product": antecedent}, lambda r: antecedent in r["antecedents"] + r["consequents"]),
    ):
        found = get(client, "/rules", limit=1000, **params)["rules"]
        assert all(map(keeps, found))
        assert {rule["key"] for rule in everything if keeps(rule)} <= {rule["key"] for rule in found}


def test_pages_follow_one_another_in_the_order_asked_for(client):
    whole = get(client, "/rules", sort="lift", order="asc", limit=1000)["rules"]
    lifts = [rule["lift"] for rule in whole]
    assert lifts == sorted(lifts)
    pages = [get(client, "/rules", sort="lift", order="asc", limit=40, offset=at)["rules"] for at in (0, 40, 80)]
    assert [rule for page in pages for rule in page] == whole[:120]
    assert get(client, "/rules", sort="fishers_p")["rules"][0]["fishers_p"] <= whole[0]["fishers_p"], "lowest is best"


def test_a_rule_opens_by_its_key_with_evidence_and_history(client, table, history):
    rule = get(client, "/rules", limit=1)["rules"][0]
    page = get(client, f"/rules/{rule['key']}")
    assert page["rule"] == rule
    assert f"{rule['count']:,} times" in page["explanation"]["text"][0]
    assert [point["at"] for point in page["history"]] == [e.shown.replace(" ", "T") for e in history.entries]
    last = page["history"][-1]
    assert (last["rank"], last["count"]) == (1, rule["count"])
    assert last["lift"] == pytest.approx(rule["lift"], rel=1e-5)


def test_any_pair_has_a_page_though_it_is_no_rule(client, model):
    rare = min(model.products, key=lambda p: model.product_counts[model.row(p)])
    often = max(model.products, key=lambda p: model.product_counts[model.row(p)])
    page = get(client, f"/rules/{key_of([rare], [often])}")
    assert sides([page["rule"]]) == [((rare,), (often,))]
    assert page["rule"]["count"] == int(model.evidence.pairs([model.row(rare)], [model.row(often)])[0])
    assert get(client, f"/rules/{key_of([rare], ['no such'])}", 404)["error"].startswith("product 'no such' is not")
    assert "no key of a rule" in get(client, "/rules/xyz", 404)["error"]


def test_explaining_a_planted_pair_finds_the_bridge(client):
    (a, b), bridge = WORLD.truth.bridged[0], WORLD.truth.bridges[0]
    told = get(client, "/explain", antecedent=a, consequent=b)
    assert "never bought together" in told["text"][0]
    assert bridge in [one["product"] for one in told["bridges"]]
    assert "on both sides" in get(client, "/explain", 422, antecedent=[a, b], consequent=a)["error"]


def test_explaining_a_set_that_is_no_kept_rule_tells_how_often_it_was_bought(client):
    sold = Counter(product for basket in WORLD.baskets for product in basket.products)
    (a, _), (b, _), (c, _) = sold.most_common(3)
    together = sum({a, b, c} <= set(basket.products) for basket in WORLD.baskets)
    told = get(client, "/explain", antecedent=[a, b], consequent=c)["text"]
    assert told[0].startswith(
        f"{a} + {b} and {c} were bought together {together:,} times in {len(WORLD.baskets):,} baskets"
    )
    assert any(sentence.startswith(f"{b} and {c} were bought together") for sentence in told)


def test_what_changed_is_what_the_history_says(client, history):
    first, last = history.entries[0], history.entries[-1]
    told, expected = (
        get(client, "/rules/diff", **{"from": first.shown}, limit=1000),
        history.diff(first.shown, last.shown),
    )
    for name, changes in expected:
        assert sides(told[name]) == [(one.antecedents, one.consequents) for one in changes]
        assert told["counts"][name] == len(changes)
        assert [one["before"] for one in told[name]] == pytest.approx([one.before for one in changes])
    error = get(client, "/rules/diff", 422, **{"from": last.shown, "to": first.shown})["error"]
    assert "give two moments" in error


def test_products_are_found_as_you_type_best_sellers_first(client, model):
    count = dict(zip(model.products, model.product_counts.tolist(), strict=True))
    everything = get(client, "/products", limit=1000)
    assert [one["count"] for one in everything["products"]] == sorted(count.values(), reverse=True)
    some = sorted(count)[7]
    assert get(client, "/products", q=some.upper())["products"][0]["id"] == some
    found = get(client, "/products", q="1", limit=1000)
    assert {one["id"] for one in found["products"]} == {label for label in count if "1" in label}
    assert found["total"] == len(found["products"])
    assert get(client, "/products", q="no such thing") == {"total": 0, "products": []}


def test_a_product_has_its_rules_neighbours_prices_and_history(client, model, history):
    label = WORLD.truth.complementary[0][0]
    row, page = model.row(label), get(client, f"/products/{label}")
    assert page["count"] == model.product_counts[row]
    assert page["price"] == pytest.approx(model.prices.means[row], rel=1e-3)
    similar = model.similar(label, 20)
    assert [one["id"] for one in page["similar"]] == [other for other, _ in similar]
    assert [one["similarity"] for one in page["similar"]] == pytest.approx([near for _, near in similar], abs=1e-3)
    assert all(rule["count"] > 0 for rule in page["observed"])
    assert all(rule["count"] == 0 and rule["status"] == "unseen" for rule in page["unseen"])
    assert page["observed"][0]["expected_lift_low"] == max(rule["expected_lift_low"] for rule in page["observed"])
    assert WORLD.truth.complementary[0][1] in page["observed"][0]["antecedents"] + page["observed"][0]["consequents"]
    assert sum(point["sold"] for point in page["history"]) == page["count"]
    assert [point["count"] for point in page["history"]] == [int(entry.counts[row]) for entry in history.entries]


def test_a_pair_on_a_products_page_is_the_same_on_its_own(client):
    page = get(client, f"/products/{WORLD.truth.rare[0][0]}")
    for rule in page["observed"][:3] + page["unseen"][:3]:
        alone = get(client, f"/rules/{rule['key']}")["rule"]
        for name in ("count", "lift", "expected_lift", "value", "price", "similarity"):
            assert alone[name] == pytest.approx(rule[name], rel=1e-4), name


def test_pairs_point_from_the_rarer_product_to_the_other(client, model):
    count = dict(zip(model.products, model.product_counts.tolist(), strict=True))
    page = get(client, f"/products/{WORLD.truth.rare[0][0]}")
    for rule in page["observed"] + page["unseen"]:
        if len(rule["antecedents"]) == 1:
            assert count[rule["antecedents"][0]] <= count[rule["consequents"][0]], rule["key"]


def test_an_unknown_product_gets_the_nearest_names(client):
    known = WORLD.truth.rare[0][0]
    told = get(client, f"/products/{known}x", 404)["error"]
    assert "did you mean" in told
    assert known in told


def test_suggestions_are_the_models_own(client, model):
    basket, user = list(WORLD.truth.complementary[0][:1]), model.users[3]
    told = get(client, "/rank", products=basket, user=user, n=5)
    expected = model.rank(basket, user, 5)
    assert [one["product"] for one in told["suggestions"]] == [label for label, _ in expected]
    assert [one["chance"] for one in told["suggestions"]] == pytest.approx([c for _, c in expected], abs=1e-3)
    posted = client.post("/rank", json={"products": [{"id": basket[0]}], "user": user, "n": 5})
    assert posted.json() == told


def test_what_is_not_known_is_left_out_and_told(client):
    told = get(client, "/rank", products=["no such", WORLD.truth.complementary[0][0]], user="nobody")
    assert told["unknown"] == ["no such", "nobody"]
    assert told["suggestions"]


def test_reasons_are_shares_of_what_speaks_for_a_suggestion(client):
    a, b = WORLD.truth.complementary[0]
    other = WORLD.truth.complementary[1][0]
    told = get(client, "/rank", products=[a, other], n=50)["suggestions"]
    partner = next(one for one in told if one["product"] == b)
    assert partner["reasons"][0]["because"] == a, "the planted partner is there because of its other half"
    for one in told:
        assert 0 <= sum(reason["share"] for reason in one["reasons"]) <= 1.002
    habit = WORLD.truth.habits
    user = next(iter(habit))
    told = get(client, "/rank", products=[], user=user, n=3)["suggestions"]
    assert {one["product"] for one in told} <= set(habit[user])
    assert all(one["reasons"] == [{"because": "customer", "share": 1.0}] for one in told)


def test_a_glance_at_all_products_misses_none_of_the_best(folder, model, monkeypatch):
    view = Published(folder).view
    rng, looked_at = np.random.default_rng(0), view.quantised_index.rows.astype(np.int32)
    monkeypatch.setattr("omba.service.views.suggest.SMALL", 40)
    monkeypatch.setattr("omba.service.views.suggest.FEW", 40)
    for user in (None, *model.users[:8]):
        context = rng.choice(len(view.product_index), 3, replace=False).astype(np.int32)
        owner = -1 if user is None else model.user_rows.vocabulary.codes[user]
        others = ~np.isin(looked_at, memory_of(model, owner))
        features = exact_features(view, context, owner, looked_at)
        clues = name_columns(features)
        clues["lift"] = 0  # lifts are looked at exactly anyway, as is what a customer remembers
        clues["match"] = model.blend.score(features) - model.blend.network.score(features[:, :-1])
        scores, rough = blend_of(view, context).score(features), rough_scores(view, context, owner)
        assert np.corrcoef(scores[others], rough[others])[0, 1] > 0.98
        want = [label for label, _ in model.rank([model.products[row] for row in context], user, 10)]
        assert [model.products[one.row] for one in suggest(view, context.tolist(), user, 10)] == want


def test_the_parts_of_a_score_add_up_to_its_clues(folder, model):
    view = Published(folder).view
    context, rows = np.array([1, 5, 7], np.int32), np.array([2, 3], np.int32)
    features = exact_features(view, context, -1, rows)
    parts, clues = parts_of(view, context, -1, rows, features), name_columns(features)
    weights = {level: model.questions.blends["complete"].weights_at(level) for level in range(len(model.spaces))}
    expected = sum(clues[field(clue, n)] * weights[n][clue] for n in weights for clue in ("context", "nearest"))
    expected = expected + clues["lift"] * model.questions.blends["complete"].weight_of("lift")
    np.testing.assert_allclose(parts[:, :-1].sum(axis=1), expected, rtol=1e-4)
    assert (parts[:, -1] == 0).all()


def test_pages_and_suggestions_are_the_same_whether_or_not_the_fast_path_leads_to_them(client, model, monkeypatch):
    product, user = str(model.products[0]), model.users[0]
    as_json = {"Content-Type": "application/json"}
    good = json.dumps({"products": [product, {"id": product}, "no such thing"], "user": user, "n": 3}).encode()
    asked = [
        (as_json, good),
        ({**as_json, "Accept-Encoding": "identity"}, good),
        ({"Content-Type": "text/plain"}, good),
    ]
    bad = (b"", b"{", b"null", b'{"products": 3}', b'{"n": 0}', b'{"what": 1}', b'{"products": ["\\ud800"]}', b"\xff")
    asked += [(as_json, content) for content in (b"{}", b'{"at": "2017-01-05"}', b'{"at": "soon"}', *bad)]
    paths = [f"/products/{quote(name)}" for name in (product, "no such thing", "", "a/b", "\n")]
    paths += [f"/products/{quote(product)}?at=1999-01-01", "/products", f"/products/{quote(product)}?what"]

    def answers():
        posted = [client.post("/rank", content=content, headers=headers) for headers, content in asked]
        found = [*posted, *(client.get(path, headers=how) for path in paths for how in ({}, {"Accept-Encoding": ""}))]
        kept = ("content-type", "content-encoding", "vary", "cache-control")
        return [(one.status_code, {name: one.headers.get(name) for name in kept}, one.content) for one in found]

    quick = answers()
    monkeypatch.setattr(FastPath, "__call__", lambda self, *message: self.app(*message))
    assert answers() == quick
    assert {status for status, *_ in quick} == {200, 404, 422}
    assert {headers["content-encoding"] for _, headers, _ in quick} == {None, "gzip"}


def test_numbers_are_told_in_six_digits():
    values = [1 / 3, -2e-7 / 3, 123456789.0, 0.0, 1.0, 0.1, 1e-300, 1e300, 65.0, np.nan, np.inf, -np.inf]
    expected = [float(f"{value:.6g}") for value in values[:-3]]
    columns = {"lift": np.array(values), "count": np.array([3, -1]), "support": np.full(len(values), np.float32(2.5))}
    found = plain_columns(columns)
    assert found["lift"] == [*expected, None, None, None]
    assert found["count"] == [3, None]
    assert found["support"] == [2.5] * len(values)


def test_the_past_answers_as_it_did_then(client, history, model):
    entry = history.entries[1]
    then = {"at": entry.shown}
    rules = get(client, "/rules", limit=1000, **then)["rules"]
    kept = list(read_rules(entry.rules).sides)
    assert sides(rules)[: len(kept)] == kept
    assert all(rule["expected_lift"] is None and rule["count"] for rule in rules[len(kept) :]), (
        "pairs that were counted"
    )
    label = history.labels[0]
    page = get(client, f"/products/{label}", **then)
    assert page["count"] == entry.counts[0]
    assert [one["id"] for one in page["similar"]] == [other for other, _ in history.similar_at(label, entry.shown, 20)]
    assert len(page["history"]) == 2
    assert get(client, f"/rules/{rules[0]['key']}", **then)["rule"] == rules[0]
    assert (
        get(client, "/rank", products=[label], n=3, **then)["suggestions"][0]["product"]
        == (history.similar_at(label, entry.shown, 1)[0][0])
    )
    assert len(get(client, "/map", **then)["products"]) <= entry.n_labels
    assert "before the history" in get(client, "/rules", 422, at="2016-01-01")["error"]
    assert "not a date" in get(client, "/rules", 422, at="soon")["error"]


def test_today_tells_what_came_since_a_week_ago(client, history):
    told = get(client, "/today")
    last, week = history.entries[-1], 7 * 86_400_000_000
    first = [entry for entry in history.entries if entry.tick <= last.tick - week][-1]
    assert told["since"] == first.shown.replace(" ", "T")
    assert told["window"]["baskets"] == last.n_baskets - first.n_baskets
    assert told["window"]["products_sold"] == int(last.counts.sum() - first.counts.sum())
    assert sum(point["baskets"] for point in told["series"]) == last.n_baskets
    assert all(rule["status"] == "unseen" for rule in told["unseen"])


def test_the_map_has_a_place_for_every_product_met_twice(client, model):
    told = get(client, "/map")
    assert set(told["products"]) == {p for p in model.products if model.product_counts[model.row(p)] > 1}
    assert len({len(told[name]) for name in ("products", "x", "y", "department", "count")}) == 1
    tag = client.get("/map").headers["etag"]
    assert client.get("/map", headers={"If-None-Match": tag}).status_code == 304


def test_users_are_found_by_what_their_names_hold(client, model):
    told = get(client, "/users", q="4", limit=1000)
    assert {str(user) for user in told["users"]} == {str(user) for user in model.users if "4" in str(user)}
    assert get(client, "/users", limit=3) == {"total": len(model.users), "users": model.users[:3]}


def test_whole_numbers_as_labels_are_found_by_their_text(tmp_path):
    baskets = omba.Baskets.from_lists([[11, 22], [33, 44]] * 100)
    omba.OMBA(dim=8, pairs=20_000).fit(baskets, every=50).save(tmp_path)
    with served(tmp_path) as client:
        assert get(client, "/products/11")["similar"][0]["id"] == 22
        assert get(client, "/rank", products=["11"], n=1)["suggestions"][0]["product"] == 22
        assert get(client, "/rules", product="33", limit=1)["rules"][0]["count"] == 100


def test_an_empty_folder_answers_with_nothing(tmp_path):
    with served(tmp_path / "none") as client:
        assert get(client, "/status")["baskets_learned"] == 0
        assert get(client, "/rules") == {
            "total": 0,
            "offset": 0,
            "limit": 50,
            "sort": "expected_lift_low",
            "kept_only": False,
            "rules": [],
        }
        assert get(client, "/products") == {"total": 0, "products": []}
        assert get(client, "/users") == {"total": 0, "users": []}
        assert get(client, "/map")["products"] == []
        assert get(client, "/today")["window"]["baskets"] == 0
        assert get(client, "/rank", products=["tea"]) == {"suggestions": [], "unknown": ["tea"]}
        assert "not known" in get(client, "/products/tea", 404)["error"]
        assert "not known" in get(client, "/explain", 404, antecedent="tea", consequent="milk")["error"]
        assert "no window has been kept" in get(client, "/rules", 422, at="2017-01-01")["error"]
        assert get(client, "/health")["status"] == "ok"
        assert client.post("/baskets", json={"products": [{"id": "tea"}]}).status_code == 503


def test_a_new_state_is_seen_whole_without_a_restart(tmp_path):
    with served(tmp_path) as client:
        assert get(client, "/products")["total"] == 0
        learn(tmp_path)
        wait_until(lambda: get(client, "/status")["products"])
        assert get(client, "/rules")["total"] > 0


def test_a_damaged_model_leaves_the_last_view_and_says_so(tmp_path):
    model = learn(tmp_path)
    published = Published(tmp_path)
    (tmp_path / "current").write_text("snapshot-000000 nonsense")
    published.look()
    assert "does not name a snapshot" in (published.error or "")
    assert published.view.n_baskets == model.n_baskets


def test_unknown_columns_and_extra_parameters_are_refused(client):
    assert "'lft'" in get(client, "/rules", 422, sort="lft")["error"]
    assert "min_lft" in get(client, "/rules", 422, min_lft=3)["error"]
    assert "limit" in get(client, "/rules", 422, limit=100_000)["error"]


def test_every_number_of_a_rule_can_be_bounded(client):
    schema = client.get("/openapi.json").json()
    names = {one["name"] for one in schema["paths"]["/rules"]["get"]["parameters"]}
    assert {f"{end}_{name}" for name in NUMBERS for end in ("min", "max")} <= names


def test_an_index_sorts_what_is_not_known_last(table):
    rule_index = RuleIndex(table)
    for order in ("asc", "desc"):
        places = rule_index.find(Filter(), "conviction", order)
        known = [rule_index.records[place]["conviction"] is not None for place in places]
        assert known == sorted(known, reverse=True) or not np.isnan(rule_index.columns["conviction"]).any()


@given(*[st.lists(st.text(min_size=1) | st.integers(-(2**63), 2**64 - 1), min_size=1, max_size=3)] * 2)
def test_a_key_is_the_text_of_its_products_and_reads_back(left, right):
    plain = json.dumps([left, right], ensure_ascii=False, separators=(",", ":"))
    assert key_of(left, right) == urlsafe_b64encode(plain.encode()).decode().rstrip("=")
    assert read_key(key_of(left, right)) == (tuple(left), tuple(right))
