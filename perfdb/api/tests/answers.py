"""What the tests check about every answer: that it is as the OpenAPI schema declares it."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

PROBLEM = "application/problem+json"


@cache
def openapi() -> dict[str, Any]:
    """The schema of the whole interface."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return schema


def _strict(node: Any) -> Any:
    """OpenAPI 3.0 as JSON Schema: null where ``nullable``, and no property that is not declared."""
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: _strict(each) for name, each in node.items() if name != "nullable"}
    if "properties" in plain:
        plain.setdefault("additionalProperties", False)
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


@cache
def _components() -> dict[str, Any]:
    components: dict[str, Any] = _strict(openapi()["components"])
    return components


def check(response: Any, path: str, status: int = 200, method: str = "get") -> Any:
    """The body of an answer, after checking its status and that its shape is the declared one of ``path``."""
    assert response.status_code == status, response.content
    body = response.json()
    media_type = response.headers["Content-Type"]
    declared = openapi()["paths"][path][method]["responses"][str(status)]["content"][media_type]["schema"]
    Draft202012Validator({**_strict(declared), "components": _components()}).validate(body)
    return body


def problem(response: Any, status: int) -> dict[str, Any]:
    """The problem details of an error."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == PROBLEM
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    return body
