"""Graphs that grow in steps: real ones from the data folder, and generated ones.

A Scenario is a start and some batches. It can write itself for engine_driver
(tests/bench/scenario_internal.h has the format) and give the operator P of any step as a
scipy matrix, built from the edges alone and so independent of the C++ graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp

MAGIC = int.from_bytes(b"CODEN1", "little")


@dataclass
class Scenario:
    name: str
    edges: np.ndarray  # (edges, 2) int32
    step_ends: np.ndarray  # edges up to the end of each step; the first is the start
    num_nodes: int
    num_columns: int
    directed: bool = False
    toggle: bool = False
    seed: int = 1
    _features: np.ndarray | None = field(default=None, repr=False)

    @property
    def num_batches(self) -> int:
        return len(self.step_ends) - 1

    @property
    def file_name(self) -> str:
        size = f"{self.num_nodes}x{self.num_columns}_{len(self.step_ends)}_{len(self.edges)}"
        return f"{self.name.replace(' ', '_')}_{size}.scenario"

    @property
    def features(self) -> np.ndarray:
        if self._features is None:
            random = np.random.default_rng(self.seed)
            self._features = random.standard_normal(
                (self.num_nodes, self.num_columns), dtype=np.float32
            )
        return self._features

    def arcs(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Sources and targets of the arcs that are there after `step`."""
        edges = self.edges[: self.step_ends[step]].astype(np.int64)
        edges = edges[edges[:, 0] != edges[:, 1]]
        if not self.directed:
            edges = np.sort(edges, axis=1)
        keys, counts = np.unique(edges[:, 0] * self.num_nodes + edges[:, 1], return_counts=True)
        if self.toggle:
            keys = keys[counts % 2 == 1]
        src, dst = np.divmod(keys, self.num_nodes)
        if self.directed:
            return src, dst
        return np.concatenate([src, dst]), np.concatenate([dst, src])

    def operator(self, step: int) -> sp.csr_matrix:
        """P with P[v, u] = 1/d(u) for an arc u -> v, in float64."""
        src, dst = self.arcs(step)
        degree = np.bincount(src, minlength=self.num_nodes)
        shape = (self.num_nodes, self.num_nodes)
        matrix = sp.csr_matrix((1.0 / degree[src], (dst, src)), shape=shape)
        matrix.sort_indices()
        return matrix

    def write(self, folder: Path) -> Path:
        path = folder / self.file_name
        if path.exists():
            return path
        header = [
            MAGIC,
            self.num_nodes,
            self.num_columns,
            int(self.directed),
            int(self.toggle),
            len(self.step_ends),
            len(self.edges),
            0,
        ]
        with path.open("wb") as file:
            file.write(np.array(header, dtype="<i8").tobytes())
            file.write(np.asarray(self.step_ends, dtype="<i8").tobytes())
            file.write(np.ascontiguousarray(self.edges, dtype="<i4").tobytes())
            file.write(np.ascontiguousarray(self.features, dtype="<f4").tobytes())
        return path


def steps(start: int, batch: int, batches: int, total: int) -> np.ndarray:
    """Ends of the steps, as many whole batches as `total` edges allow."""
    start = min(start, total)
    batches = min(batches, (total - start) // batch)
    return start + batch * np.arange(batches + 1, dtype=np.int64)


def first_occurrences(edges: np.ndarray, directed: bool) -> np.ndarray:
    """Rows that add an edge, in their order: repeats and self loops change nothing."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    ends = edges if directed else np.sort(edges, axis=1)
    keys = ends[:, 0] * (int(edges.max()) + 1) + ends[:, 1]
    _, first = np.unique(keys, return_index=True)
    return edges[np.sort(first)]


def number_by_appearance(edges: np.ndarray) -> tuple[np.ndarray, int]:
    ids, first, index = np.unique(edges.ravel(), return_index=True, return_inverse=True)
    rank = np.empty(len(ids), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(ids), dtype=np.int32)
    return rank[index].reshape(-1, 2), len(ids)


def read_log(data: Path, name: str) -> np.ndarray | None:
    path = data / name / "edges.parquet"
    if not path.exists():
        return None
    table = pq.read_table(path, columns=["src", "dst"])
    return np.stack([table["src"].to_numpy(), table["dst"].to_numpy()], axis=1)


@dataclass(frozen=True)
class RealGraph:
    """How a log of the data folder is cut: edges that start, then batches of edges."""

    log: str
    start: int
    batch: int
    batches: int
    columns: int
    directed: bool = False


REAL = {
    "DBLP undirected": RealGraph("dblp", 72_500, 3_744, 16, 128),
    "DBLP directed": RealGraph("dblp", 72_500, 3_744, 16, 128, directed=True),
    "git_rust": RealGraph("git_rust", 800_000, 20_000, 10, 64),
    "brain": RealGraph("brain", 500_000, 10_000, 10, 128),
    "patent_small": RealGraph("patent_small", 21_000, 2_000, 10, 128, directed=True),
}


def real_graph(name: str, data: Path, columns: int | None = None) -> Scenario | None:
    """The scenario `name` of REAL, or nothing where its log is absent."""
    cut = REAL[name]
    log = read_log(data, cut.log)
    if log is None:
        return None
    edges = first_occurrences(log, cut.directed)
    ends = steps(cut.start, cut.batch, cut.batches, len(edges))
    edges, num_nodes = number_by_appearance(edges[: ends[-1]])
    return Scenario(name, edges, ends, num_nodes, columns or cut.columns, cut.directed)


def rmat_edges(random: np.random.Generator, num_nodes: int, count: int) -> np.ndarray:
    """Draw edges of R-MAT with a, b, c = 0.57, 0.19, 0.19, folded into `num_nodes`."""
    edges = np.zeros((count, 2), dtype=np.int64)
    for _ in range(max(1, (num_nodes - 1).bit_length())):
        draw = random.random(count)
        edges *= 2
        edges[:, 0] += draw >= 0.76
        edges[:, 1] += ((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95)
    # The powers of two put the hubs at regular places; real ids are not in such an order.
    return random.permutation(num_nodes)[edges % num_nodes]


def rmat(num_nodes: int, num_arcs: int, columns: int, batch: int, batches: int) -> Scenario:
    """Undirected R-MAT; of every ten edges of a batch, nine are new and one is taken away."""
    random = np.random.default_rng(2)
    wanted = num_arcs // 2 + batch * batches
    draws = wanted + wanted // 2
    while True:
        # The same seed every time: more draws must extend the graph, not change it.
        edges = rmat_edges(np.random.default_rng(3), num_nodes, draws)
        edges = first_occurrences(edges, directed=False)[:wanted]
        if len(edges) == wanted:
            break
        draws *= 2
    start = len(edges) - batch * batches
    for end in start + batch * np.arange(batches):
        gone = slice(end, end + batch // 10)
        edges[gone] = edges[random.choice(start, batch // 10, replace=False)]
    ends = steps(start, batch, batches, len(edges))
    return Scenario("R-MAT", edges.astype(np.int32), ends, num_nodes, columns, toggle=True)


def citations(num_nodes: int, columns: int, batch_nodes: int, batches: int) -> Scenario:
    """Every node cites about five earlier ones, recent ones more; in order of time, with
    one arc in a hundred the wrong way round. A batch is what some new nodes cite."""
    random = np.random.default_rng(4)
    counts = random.poisson(5, num_nodes)
    counts[0] = 0
    citing = np.repeat(np.arange(num_nodes, dtype=np.int64), counts)
    cited = (citing * (1 - random.random(len(citing)) ** 2)).astype(np.int64)
    edges = np.stack([citing, np.minimum(cited, citing - 1)], axis=1)
    wrong = random.random(len(edges)) < 0.01
    edges[wrong] = edges[wrong][:, ::-1]
    order = np.maximum(edges[:, 0], edges[:, 1])
    first = num_nodes - batch_nodes * batches
    ends = np.searchsorted(order, first + batch_nodes * np.arange(batches + 1))
    return Scenario("citations", edges.astype(np.int32), ends, num_nodes, columns, directed=True)
