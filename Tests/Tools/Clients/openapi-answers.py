#!/usr/bin/env python3
"""Checks that requests and responses are as Docs/openapi.yaml describes them.

Usage: openapi-answers.py FILE    Each line of FILE is a JSON object: method, path, sent, status, type, body. Prints how often each
operation got each status. Exit status: 0 if all is well, 1 otherwise.
"""

import collections
import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from ruamel.yaml import YAML

NAME = "urn:openapi"
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENT = YAML(typ="safe").load(CHECKOUT / "Docs/openapi.yaml")
REGISTRY = Registry().with_resource(NAME, Resource.from_contents(DOCUMENT, default_specification=DRAFT202012))
PROBLEM = "components/responses/Problem"
# The operations of phones, with the status of success.
WANTED = {"register": 200, "answer": 204, "unregister": 204, "leave": 204, "senderSet": 200, "testPhone": 202}


def place(*parts):
    return "/".join(each.replace("~", "~0").replace("/", "~1") for each in parts)


def faults(value, pointer):
    validator = Draft202012Validator({"$ref": f"{NAME}#/{pointer}"}, registry=REGISTRY)
    return [error.message for error in validator.iter_errors(value)]


def found(method, path):
    """Returns the path of the document and the method in lowercase, or None if it has no such operation."""
    method = "get" if method == "HEAD" else method.lower()
    for template, operations in DOCUMENT["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) and method in operations:
            return template, method
    return None


def wrong(said):
    """Returns what differs from the document, and the name of the operation."""
    operation = found(said["method"], said["path"])
    status, kind, body = said["status"], said["type"], said["body"]
    if operation is None:
        return (faults(body, place(*PROBLEM.split("/"), "content", "application/problem+json", "schema")), None) if body else ([], None)
    described = DOCUMENT["paths"][operation[0]][operation[1]]
    pointer = place("paths", *operation)
    response = described["responses"].get(str(status))
    where = f"{pointer}/responses/{status}" if response else PROBLEM
    if response and "$ref" in response:
        where = response["$ref"].removeprefix("#/")
    response = DOCUMENT["components"]["responses"][where.split("/")[-1]] if "components" in where else response
    errors = []
    if status < 300 and said["sent"] is not None:
        errors += faults(said["sent"], f"{pointer}/requestBody/content/{place('application/json')}/schema")
    content = response.get("content", {})
    if body is None:
        # HEAD has no body, and 204 has none to describe.
        errors += [] if not content or said["method"] == "HEAD" else ["there is no body"]
    elif kind not in content:
        errors.append(f"{kind} isn't described for {status}")
    else:
        errors += faults(body, f"{where}/content/{place(kind)}/schema")
    return errors, described["operationId"]


def main():
    counts, bad = collections.Counter(), 0
    for line in pathlib.Path(sys.argv[1]).read_text("utf-8").splitlines():
        said = json.loads(line)
        errors, operation = wrong(said)
        counts[operation, said["status"]] += 1
        for error in errors:
            bad += 1
            print(f"{said['method']} {operation} {said['status']}: {error[:300]}", file=sys.stderr)
    for (operation, status), count in sorted(counts.items(), key=str):
        print(operation, status, count)
    missing = [name for name, status in WANTED.items() if not counts[name, status]]
    if missing:
        print("never succeeded:", *missing, file=sys.stderr)
    return 1 if bad or missing else 0


sys.exit(main())
