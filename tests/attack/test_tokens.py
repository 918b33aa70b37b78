"""Tokens under attack: many made at once, links in their place, tokens that should hold no longer, open folders."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

import omba
from omba.cli import run
from omba.errors import InputError, SnapshotError
from omba.live import Inbox
from omba.service.http.tokens import Tokens
from serving import SMALL, served


def test_of_tokens_made_at_once_every_one_works(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Tokens(tmp_path).make(["read"]), range(8)))
    tokens = Tokens(tmp_path)
    assert len(tokens.all) == 8
    assert all(tokens.allows(token, "read") for token in made)


@pytest.mark.parametrize("name", ["tokens.json", "tokens.json.aside"])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_where_a_file_of_tokens_should_be_is_never_followed(tmp_path, name, there):
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere"
    folder.mkdir()
    if there:
        elsewhere.write_text("[]")
    (folder / name).symlink_to(elsewhere)
    if name.endswith(".aside"):
        assert Tokens(folder).allows(Tokens(folder).make(["read"]), "read")
    else:
        with pytest.raises(SnapshotError, match="link"):
            Tokens(folder).make(["read"])
    assert elsewhere.exists() == there
    if there:
        assert elsewhere.read_text() == "[]"


def test_a_token_has_a_name_and_an_end(tmp_path):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"], name="till 3", expires="2099-01-01")
    assert tokens.allows(token, "read")
    (kept,) = tokens.all
    assert (kept.name, kept.expires[:10]) == ("till 3", "2099-01-01")
    with pytest.raises(InputError, match="till 3"):
        tokens.make(["read"], name="till 3")
    with pytest.raises(InputError, match="is past"):
        tokens.make(["read"], expires="2001-01-01")
    ended = json.loads(tokens.file.read_text())
    ended[0]["expires"] = f"{datetime.now(UTC) - timedelta(seconds=5):%Y-%m-%dT%H:%M:%SZ}"
    tokens.file.write_text(json.dumps(ended))
    assert not Tokens(tmp_path).allows(token, "read")


def test_a_token_may_end_after_a_span(tmp_path):
    tokens = Tokens(tmp_path)
    tokens.make(["read"], expires="90d")
    left = datetime.fromisoformat(tokens.all[0].expires) - datetime.now(UTC)
    assert timedelta(days=89) < left <= timedelta(days=90)
    for odd in ("99999999999d", "0d", "soon", "99999-01-01"):
        with pytest.raises(InputError):
            tokens.make(["read"], expires=odd)


def test_tokens_of_an_earlier_version_still_hold(tmp_path):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"])
    (kept,) = json.loads(tokens.file.read_text())
    tokens.file.write_text(json.dumps([{name: kept[name] for name in ("hash", "scopes", "made")}]))
    assert Tokens(tmp_path).allows(token, "read")
    assert Tokens(tmp_path).all[0].name == kept["hash"][:8]


def test_a_token_revoked_while_the_service_runs_holds_no_longer_and_its_last_use_is_told(tmp_path):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"], name="page")
    assert Tokens(tmp_path).last_uses() == {}
    with served(tmp_path, None, Tokens(tmp_path)) as client:
        bearer = {"Authorization": f"Bearer {token}"}
        assert client.get("/rules", headers=bearer).status_code == 200
        used = Tokens(tmp_path).last_uses()[tokens.all[0].hash]
        assert abs(datetime.fromisoformat(used) - datetime.now(UTC)) < timedelta(hours=1)
        tokens.revoke("page")
        assert client.get("/rules", headers=bearer).status_code == 403


def test_the_command_makes_lists_and_revokes_tokens_by_name(tmp_path, capsys):
    folder = str(tmp_path / "model")
    assert run(["token", "--model", folder, "--name", "till 3", "--expires", "30d"]) == 0
    assert run(["token", "--model", folder, "--list"]) == 0
    shown = capsys.readouterr().out
    assert "till 3" in shown
    assert "never" in shown
    assert run(["token", "--model", folder, "--revoke", "till 3"]) == 0
    assert Tokens(tmp_path / "model").all == ()


@pytest.mark.parametrize("begin", ["inbox", "save", "token"])
def test_the_folder_of_a_model_is_its_owners_alone(tmp_path, begin):
    folder = tmp_path / "shop"
    before = os.umask(0o022)
    try:
        if begin == "inbox":
            Inbox(folder).close()
        elif begin == "save":
            omba.OMBA(**SMALL).save(folder)
        else:
            Tokens(folder).make(["read"])
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
