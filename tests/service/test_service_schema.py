"""The OpenAPI of the service holds: whatever it allows, and much that it does not, is answered as it says."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from omba.live import Inbox
from omba.service import create_app
from omba.service.http.limits import Limits
from omba.service.views.rule_key import key_of
from serving import WORLD, learn, served

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
BRIEF = settings(
    max_examples=12, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
PATHS = create_app("no such folder").openapi()["paths"]
OPERATIONS = [
    (method.upper(), path, mode)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    for mode in GenerationMode
    # Where there is nothing to give, nothing can be given wrong.
    if mode is GenerationMode.POSITIVE or "parameters" in operation or "requestBody" in operation
]

NAMES = {
    ("get", "/status"): "status_status_get", ("get", "/metrics"): "metrics_metrics_get",
    ("get", "/today"): "today_today_get", ("get", "/health"): "health_health_get",
    ("get", "/rules"): "rules_rules_get", ("get", "/rules/diff"): "diff_rules_diff_get",
    ("get", "/rules/{key}"): "rule_rules__key__get", ("get", "/explain"): "explain_explain_get",
    ("get", "/products"): "products_products_get", ("get", "/products/{id}"): "product_products__id__get",
    ("get", "/users"): "users_users_get", ("get", "/categories"): "categories_categories_get",
    ("get", "/families"): "families_families_get", ("get", "/names"): "names_names_get",
    ("get", "/map"): "products_map_map_get", ("get", "/rank"): "rank_rank_get",
    ("post", "/rank"): "rank_posted_rank_post", ("get", "/customers/{id}"): "customer_customers__id__get",
    ("post", "/baskets"): "baskets_baskets_post",
}  # fmt: skip
"""What operations are called in the schema: clients are generated from it, and their methods go by these names."""


def test_operations_keep_the_names_that_generated_clients_know_them_by():
    found = {(method, path): one["operationId"] for path, methods in PATHS.items() for method, one in methods.items()}

    assert {each: found.get(each) for each in NAMES} == NAMES
    assert len(set(found.values())) == len(found)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    learn(folder)
    inbox = Inbox(folder)
    with served(folder, inbox, limits=Limits(rate=1e9)) as client:
        yield client
    inbox.close()


@pytest.fixture(scope="module")
def schema(client):
    return schemathesis.openapi.from_url(f"{client.base_url}/openapi.json".replace("//openapi", "/openapi"))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "mode"), OPERATIONS)
def test_every_answer_is_of_the_kind_the_schema_tells(schema, method, path, mode):
    operation = schema[path][method]

    @BRIEF
    @given(case=operation.as_strategy(generation_mode=mode))
    def answered(case):
        case.validate_response(case.call(), checks=CHECKS)

    answered()


KNOWN = {"id": WORLD.truth.rare[0][0], "key": key_of(WORLD.truth.rare[0][:1], WORLD.truth.rare[0][1:])}


@pytest.mark.parametrize("path", ["/products/{id}", "/rules/{key}"])
def test_what_is_known_is_answered_as_the_schema_tells_too(schema, path):
    (place,) = [name for name in KNOWN if f"{{{name}}}" in path]
    case = schema[path]["GET"].Case(path_parameters={place: KNOWN[place]})
    answer = case.call()
    assert answer.status_code == 200
    case.validate_response(answer, checks=CHECKS)


def test_the_schema_has_examples_and_a_word_on_every_operation(client):
    told = client.get("/openapi.json").json()
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            assert operation.get("description"), (method, path)
    assert told["paths"]["/baskets"]["post"]["requestBody"]["content"]["application/json"]["examples"]
    assert "cake mix" in json.dumps(told)
