"""Runs written by hand, file by file, for what a small run of the program does not show."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash


def embedding_columns(values, layout="list"):
    """The columns of a snapshot file in a layout; the precision is that of `values`."""
    flat = pa.array(values.reshape(-1))
    element = pa.field("element", flat.type, nullable=False)
    rows, dim = values.shape
    if layout == "list":
        offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * dim)
        return {"embedding": pa.ListArray.from_arrays(offsets, flat, type=pa.list_(element))}
    if layout == "fixed":
        return {"embedding": pa.FixedSizeListArray.from_arrays(flat, type=pa.list_(element, dim))}
    return {f"e{i}": pa.array(np.ascontiguousarray(values[:, i])) for i in range(dim)}


def write_sealed(path, value):
    """Write JSON as a manifest is written: with the checksum of its other lines."""
    value = {key: part for key, part in value.items() if key != "xxh3"}
    text = json.dumps(value, indent=1)
    digest = xxhash.xxh3_64(text.encode()).hexdigest()
    path.write_text(text.replace("{\n", f'{{\n "xxh3": "{digest}",\n', 1))


class HandmadeRun:
    def __init__(self, folder, dim=3, layout="list", dtype=np.float32):
        self.folder, self.dim, self.layout, self.dtype = folder, dim, layout, dtype
        self.node_type = pa.int64()
        self.schedule = []
        self.first_events = {}
        self.files = {}
        self.commits = 0

    def path(self, number):
        return f"snapshots/snapshot={number:06}/part-0.parquet"

    def write(self, path, table, **options):
        where = self.folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, where, **options)
        self.name(path, table.num_rows)

    def name(self, path, rows=0):
        """Let the next manifest name a file that is there."""
        content = (self.folder / path).read_bytes()
        xxh3 = xxhash.xxh3_64(content).hexdigest()
        self.files[path] = {"path": path, "size": len(content), "rows": rows, "xxh3": xxh3}

    def add(self, nodes, values, base=None, **options):
        """Add a snapshot; with `base`, one that holds only the rows that changed."""
        number = len(self.schedule)
        values = np.asarray(values, self.dtype).reshape(len(nodes), self.dim)
        # An empty snapshot has the type of the ids before it.
        self.node_type = pa.array(nodes).type if len(nodes) else self.node_type
        ids = pa.array(nodes, self.node_type)
        table = pa.table({"node": ids, **embedding_columns(values, self.layout)})
        table = table.replace_schema_metadata({"coden.dim": str(self.dim)})
        self.write(self.path(number), table, **options)
        for node in nodes:
            self.first_events.setdefault(node, 100 + 10 * number)
        self.schedule.append(
            {
                "snapshot": number,
                "prediction": number,
                "at_prediction": number > 0,
                "time": 100 + 10 * number,
                "base": number if base is None else base,
            }
        )

    def commit(
        self, columns=("snapshot", "prediction", "at_prediction", "time", "base"), trainings=()
    ):
        table = pa.Table.from_pylist(self.schedule).select(list(columns))
        self.write("schedule.parquet", table)
        nodes = pa.array(self.first_events.keys(), self.node_type)
        events = pa.array(self.first_events.values(), pa.int64())
        self.write("state/nodes.parquet", pa.table({"node": nodes, "first_event": events}))
        self.publish(trainings)
        return self.folder

    def publish(self, trainings=(), **changes):
        self.commits += 1
        part = {
            "name": "embed",
            "fingerprint": "0",
            "parameters": "embed.alpha = 0.2\ninput.edges = a = b.parquet\nembed.columns = \n",
            "figures": [],
            "notes": [],
            "files": list(self.files.values()),
        }
        manifest = {"format_version": 5, "coden": "0.1.0", "number": self.commits}
        manifest |= {"parts": [part, *trainings], **changes}
        (self.folder / "_coden").mkdir(exist_ok=True)
        write_sealed(self.manifest(), manifest)

    def manifest(self):
        return self.folder / "_coden" / f"manifest-{self.commits:06}.json"
