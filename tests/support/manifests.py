"""The newest manifest of a run: read, changed, and written again under its checksum."""

import json
import pathlib

import xxhash


def newest_manifest(run):
    return max(pathlib.Path(run).glob("_coden/manifest-*.json"))


def read_manifest(run):
    return json.loads(newest_manifest(run).read_text())


def write_manifest(run, manifest):
    """Put `manifest` in the place of the newest one, under the checksum of its own text."""
    manifest = {key: value for key, value in manifest.items() if key != "xxh3"}
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    seal = f'{{\n "xxh3": "{xxhash.xxh3_64_hexdigest(text.encode())}",\n'
    newest_manifest(run).write_text(seal + text.removeprefix("{\n"))


def records(manifest):
    return [record for part in manifest["parts"] for record in part["files"]]


def committed_names(run):
    """Every file that the newest manifest names."""
    return sorted(record["path"] for record in records(read_manifest(run)))


def committed_places(run):
    """Where every committed file lies: one whose commit was cut short waits in the stage."""
    return sorted(r.get("staged", r["path"]) for r in records(read_manifest(run)))


def fit_manifest(run, names=None):
    """Make the newest manifest say what is there: sizes and checksums of `names`, or of all."""
    manifest = read_manifest(run)
    for record in records(manifest):
        if names is not None and record["path"] not in names:
            continue
        content = (pathlib.Path(run) / record["path"]).read_bytes()
        record["size"] = len(content)
        record["xxh3"] = xxhash.xxh3_64_hexdigest(content)
    write_manifest(run, manifest)
