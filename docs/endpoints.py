"""The page of endpoints, made from the service's own OpenAPI whenever the site is built, so that it is never stale."""

import re
from typing import Any

from omba.service import create_app

PAGE, MARK = "reference/endpoints.md", "<!-- endpoints -->"
COMMON = {"401", "403", "421", "429", "500", "503"}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What MkDocs calls for every page: the one of endpoints gets them."""
    return markdown.replace(MARK, endpoints()) if page.file.src_uri == PAGE else markdown


def endpoints() -> str:
    """A section for each endpoint."""
    schema = create_app("no such folder").openapi()
    parts = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts.append(section(method, path, operation, schema))
    return "\n".join(parts)


def section(method: str, path: str, operation: dict[str, Any], schema: dict[str, Any]) -> str:
    """One endpoint: what it does, its parameters, its body, its statuses."""
    lines = [f"## {method.upper()} {path}", "", " ".join(operation.get("description", "").split()), ""]
    parameters = operation.get("parameters", [])
    bounds = [one for one in parameters if re.match(r"(min|max)_(?!price|length)", one["name"])]
    shown = [one for one in parameters if one not in bounds]
    if shown:
        lines += ["| parameter | | |", "| --- | --- | --- |"]
        lines += [f"| `{one['name']}` | {place(one)} | {kind(one)} |" for one in shown]
        lines.append("")
    if bounds:
        measures = sorted({one["name"][4:] for one in bounds})
        lines += [f"`min_` and `max_` of: {', '.join(f'`{name}`' for name in measures)}.", ""]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        lines += [f"Body: {', '.join(sorted(names(body, schema)))}.", ""]
    statuses = [code for code in sorted(operation["responses"]) if code not in COMMON]
    lines += [f"Answers {', '.join(statuses)}.", ""]
    return "\n".join(lines)


def place(parameter: dict[str, Any]) -> str:
    """Where a parameter stands, and whether it has to."""
    return f"{parameter['in']}, needed" if parameter.get("required") else str(parameter["in"])


def kind(parameter: dict[str, Any]) -> str:
    """The type of a parameter, its bounds and its default."""
    schema = parameter["schema"]
    choices = schema.get("anyOf", [schema])
    told = " or ".join(
        ", ".join(f"`{each}`" for each in one["enum"]) if "enum" in one else one.get("type", "text")
        for one in choices
        if one.get("type") != "null"
    )
    told = told.replace("string", "text")
    for name, word in (("minimum", "from"), ("maximum", "to"), ("maxLength", "letters up to")):
        found = next((one[name] for one in [schema, *choices] if name in one), None)
        told += f", {word} {found:,}" if found is not None else ""
    default = schema.get("default")
    return told + (f"; `{default}` unless given" if default not in (None, "") else "")


def names(body: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """The models that a body may be."""
    found = set(re.findall(r"#/components/schemas/(\w+)", str(body)))
    return {f"`{name}` ({', '.join(schema['components']['schemas'][name].get('properties', {}))})" for name in found}
