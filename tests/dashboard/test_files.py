"""The dashboard's files: libraries as they came, nothing from elsewhere, names never markup, colours to be read."""

import hashlib
import re
from pathlib import Path

import pytest

import omba.service

STATIC = Path(omba.service.__file__).parent / "static"
VENDOR = STATIC / "vendor"
OURS = sorted(path for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".html", ".svg"))


def test_vendored_libraries_are_the_ones_whose_checksums_were_kept():
    kept = dict(reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    assert found == kept


def test_each_vendored_library_has_its_version_in_its_name_and_its_licence_beside_it():
    for path in VENDOR.glob("*.js"):
        name = re.fullmatch(r"([a-z]+-\d+\.\d+\.\d+)\.min\.js", path.name)
        assert name, path.name
        assert (VENDOR / f"{name[1]}.LICENSE.txt").stat().st_size > 500


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_no_file_turns_text_into_markup_or_code(path):
    text = path.read_text()
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc"
    assert not re.search(forbidden, text), path.name


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_no_file_names_an_address_beyond_the_server(path):
    text = path.read_text()
    for namespace in ("http://www.w3.org/2000/svg", "http://schemas.openxmlformats.org/"):
        text = text.replace(namespace, "")  # a name, never asked for
    assert not re.search(r"(https?:)?//[\w-]+\.[\w.-]+", re.sub(r"(?m)^\s*//.*$| // .*$", "", text)), path.name


def test_the_page_has_no_script_or_style_of_its_own():
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S) == [(' type="module" src="/static/app.js"', "")]
    assert "<style" not in page
    assert not re.search(r"\s(style|on\w+)=", page)


def test_every_module_that_is_asked_for_is_there():
    for path in STATIC.glob("*.js"):
        for name in re.findall(r'(?:from|import\() ?"(\./|/static/)([\w./-]+)"', path.read_text()):
            assert (STATIC / name[1]).exists(), (path.name, name[1])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_paper_and_on_cards(theme):
    colours = palette(theme)
    for text in ("ink", "soft", "accent", "second", "third", "fourth", "fifth", "wrong"):
        for ground in ("paper", "card"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (theme, text, ground)


def test_both_ways_to_the_dark_give_the_same_colours():
    blocks = re.findall(r"color-scheme: dark;(.*?)}", (STATIC / "style.css").read_text(), re.S)
    assert len(blocks) == 2
    assert re.findall(r"--\w+: [^;]+", blocks[0]) == re.findall(r"--\w+: [^;]+", blocks[1])


def palette(theme: str) -> dict[str, str]:
    block = re.search(rf"color-scheme: {theme};(.*?)}}", (STATIC / "style.css").read_text(), re.S)
    assert block
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block[1]))


def contrast(one: str, other: str) -> float:
    """The ratio of luminances as WCAG 2 has it; 4.5 is its AA for text."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
