"""Writes a folder as a container image: an OCI archive that `docker load` also reads. The same folder gives the same bytes."""

import argparse
import gzip
import hashlib
import io
import json
import tarfile
from datetime import datetime, timezone
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root", type=Path, help="the image's files")
parser.add_argument("archive", help="the new archive")
parser.add_argument("--version", required=True)
parser.add_argument("--commit", required=True)
parser.add_argument("--epoch", type=int, required=True, help="the time of all files")
parser.add_argument("--architecture", required=True, help="the name on which Debian and OCI agree")
parser.add_argument("--user", type=int, required=True, help="owns the folders named by --owned, and runs the program")
parser.add_argument("--owned", action="append", default=[], help="a folder, relative to the root")
arguments = parser.parse_args()
blobs = {}


def member(name, data=None, kind=tarfile.REGTYPE, mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime, info.size = kind, mode, arguments.epoch, len(data or b"")
    return info


def layer():
    """Returns the files as a tar archive, sorted, owned by root or by the image's user."""
    result = io.BytesIO()
    with tarfile.open(fileobj=result, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(arguments.root.rglob("*")):
            info = archive.gettarinfo(path, str(path.relative_to(arguments.root)))
            owner = arguments.user if info.name in arguments.owned else 0
            info.uid = info.gid = owner
            info.uname = info.gname = ""
            info.mtime = arguments.epoch
            # A hard link becomes a file, so that its content doesn't depend on the order.
            if path.is_file() and not path.is_symlink():
                info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
                with path.open("rb") as file:
                    archive.addfile(info, file)
            else:
                archive.addfile(info)
    return result.getvalue()


def blob(data, kind):
    digest = hashlib.sha256(data).hexdigest()
    blobs[f"blobs/sha256/{digest}"] = data
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


def text(value):
    return json.dumps(value, indent=1).encode()


files = layer()
compressed = blob(gzip.compress(files, mtime=0), "layer.v1.tar+gzip")
created = datetime.fromtimestamp(arguments.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
config = blob(text({
    "created": created, "architecture": arguments.architecture, "os": "linux",
    "config": {
        "User": f"{arguments.user}:{arguments.user}",
        "WorkingDir": "/var/lib/sealed-push",
        "Env": ["PATH=/usr/bin", "SWIFT_BACKTRACE=enable=no", "LIBDISPATCH_LOG=NO"],
        # Without arguments, a trial. `docker run IMAGE sealedpush ...` runs any command.
        "Cmd": ["/usr/bin/device-simulator", "trial", "--open", "--folder", "/var/lib/sealed-push/Trial"],
        "ExposedPorts": {f"{port}/tcp": {} for port in (8480, 8481, 8482)},
        "Volumes": {"/var/lib/sealed-push": {}},
        "StopSignal": "SIGTERM",
        # Docker reads this; OCI's own format has no health check. Times are in nanoseconds.
        "Healthcheck": {
            "Test": ["CMD", "/usr/bin/sealedpush", "doctor", "--ready", "127.0.0.1:9102"],
            "Interval": 30_000_000_000, "Timeout": 10_000_000_000, "StartPeriod": 30_000_000_000,
        },
        "Labels": {
            "org.opencontainers.image.title": "Sealed Push",
            "org.opencontainers.image.version": arguments.version,
            "org.opencontainers.image.revision": arguments.commit,
        },
    },
    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
    "history": [{"created": created, "created_by": "Scripts/package"}],
}), "config.v1+json")
manifest = blob(text({
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
    "layers": [compressed],
}), "manifest.v1+json")
manifest["platform"] = {"architecture": arguments.architecture, "os": "linux"}
manifest["annotations"] = {"org.opencontainers.image.ref.name": arguments.version}
place = {name: f"blobs/sha256/{value['digest'].removeprefix('sha256:')}" for name, value in
         {"config": config, "layer": compressed}.items()}
tag = f"sealed-push:{arguments.version}"
blobs["index.json"] = text({"schemaVersion": 2, "manifests": [manifest]})
blobs["oci-layout"] = text({"imageLayoutVersion": "1.0.0"})
blobs["manifest.json"] = text([{"Config": place["config"], "RepoTags": [tag], "Layers": [place["layer"]]}])

with tarfile.open(arguments.archive, "w", format=tarfile.GNU_FORMAT) as archive:
    for folder in ("blobs", "blobs/sha256"):
        archive.addfile(member(folder, kind=tarfile.DIRTYPE, mode=0o755))
    for name in sorted(blobs):
        archive.addfile(member(name, blobs[name]), io.BytesIO(blobs[name]))
