#!/usr/bin/env python3
"""Checks the form of Packaging/compose.yaml, and prints the service's command, an argument a line.

Usage: compose.py FILE NAME=VALUE...   the variables that the service's command needs
"""

import re
import sys

import yaml

# The members that the file may use. Source: the Compose Specification, https://compose-spec.io.
TOP = {"name", "services", "volumes", "secrets"}
SERVICE = {
    "image", "command", "ports", "volumes", "secrets", "restart", "stop_grace_period", "read_only", "cap_drop", "cap_add",
    "security_opt", "network_mode", "depends_on",
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}


def problems(document):
    """Yields what Docker wouldn't accept, or what would expose the service."""
    for name in set(document) - TOP:
        yield f"unknown member {name}"
    services = document["services"]
    for name, service in services.items():
        for member in set(service) - SERVICE:
            yield f"{name}: unknown member {member}"
        if not re.fullmatch(r"[a-z0-9/-]+:[a-z0-9.]+", service["image"]):
            yield f"{name}: the image has no tag"
        for volume in service.get("volumes", []):
            source, _, target = volume.partition(":")
            if source not in document["volumes"] or not target.startswith("/"):
                yield f"{name}: the volume {volume} isn't declared"
        for secret in service.get("secrets", []):
            if secret not in document["secrets"]:
                yield f"{name}: the secret {secret} isn't declared"
        for port in service.get("ports", []):
            if not re.fullmatch(r"(80:80|443:443)(/udp)?", port):
                yield f"{name}: {port} is published, but phones need only Caddy's ports"
        for other, how in service.get("depends_on", {}).items():
            if other not in services or how["condition"] not in CONDITIONS:
                yield f"{name}: can't depend on {other}"
        mode = service.get("network_mode", "service:" + name)
        if mode.removeprefix("service:") not in services or ("network_mode" in service and "ports" in service):
            yield f"{name}: the network {mode} has no service, or would need its ports"
        if service.get("cap_drop") != ["ALL"]:
            yield f"{name}: keeps capabilities"
    used = {volume.partition(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    if used != set(document["volumes"]):
        yield "a declared volume isn't used"


def substituted(text, variables):
    """Returns the text with `${NAME:?...}` replaced, as Docker replaces it."""
    return re.sub(r"\$\{(\w+):\?[^}]+\}", lambda match: variables[match[1]], text)


def main():
    variables = dict(argument.split("=", 1) for argument in sys.argv[2:])
    with open(sys.argv[1], encoding="utf-8") as file:
        document = yaml.safe_load(file)
    found = list(problems(document))
    if found:
        sys.exit("\n".join(found))
    for argument in document["services"]["push"]["command"]:
        print(substituted(argument, variables))


main()
