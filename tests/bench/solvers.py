"""Peers that compute z = alpha x + (1 - alpha) P z, and the reference they are held to.

Every peer is charged for its iterations alone: building its matrix is free, and it stops
after the least number of iterations that brings the verified error within the budget,
which a user could not know beforehand. What a peer cannot do (several columns, negative
features, a start from an earlier result) its class says, and the table repeats.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

ALPHA = 0.2
MAX_ITERATIONS = 250


def error(h: np.ndarray, z: np.ndarray) -> float:
    """||h - z||_1 / n of the worst column."""
    total = np.zeros(z.shape[1])
    for begin in range(0, len(z), 1 << 16):
        rows = slice(begin, begin + (1 << 16))
        total += np.abs(h[rows] - z[rows]).sum(axis=0, dtype=np.float64)
    return float(total.max() / len(z))


def reference(operator: sp.csr_matrix, x: np.ndarray, z: np.ndarray | None) -> np.ndarray:
    """Iterate in float64 until the error is proven to be below 1e-10, from `z` if given.

    The L1 norm of a column shrinks by 1 - alpha with every step, so what is left is at
    most (1 - alpha) / alpha times the last step.
    """
    base = ALPHA * x.astype(np.float64)
    scaled = operator * (1 - ALPHA)
    z = base if z is None else z
    while True:
        # Measuring a step costs nearly as much as taking it.
        for _ in range(10):
            last = z
            z = scaled @ last
            z += base
        if error(z, last) * (1 - ALPHA) / ALPHA <= 1e-10:
            return z


@dataclass
class Cost:
    wall: float
    cpu: float


def timed(work):
    """What `work` returns, and its cost."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, Cost(time.perf_counter() - wall, time.process_time() - cpu)


class ScipyPeer:
    name = "scipy float32"
    module = "scipy"
    note = ""
    warm = True  # can start from an earlier result
    columns = None  # takes all columns at once

    def prepare(self, operator: sp.csr_matrix, x: np.ndarray):
        matrix = (operator * (1 - ALPHA)).astype(np.float32)
        return matrix, np.float32(ALPHA) * x

    def load(self, z: np.ndarray):
        return z

    def iterate(self, prepared, z, count: int):
        matrix, base = prepared
        for _ in range(count):
            z = matrix @ z
            z += base
        return z

    def read(self, z) -> np.ndarray:
        return z


def torch_csr(matrix: sp.csr_matrix):
    import torch

    torch.set_num_threads(1)
    # It warns that sparse tensors are young; the results are verified here anyway.
    warnings.filterwarnings("ignore", module="torch|solvers")
    warnings.filterwarnings("ignore", message="Sparse")
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr),
        torch.from_numpy(matrix.indices),
        torch.from_numpy(matrix.data),
        size=matrix.shape,
    )


class TorchPeer(ScipyPeer):
    name = "torch CSR float32"
    module = "torch"

    def prepare(self, operator, x):
        import torch

        csr = torch_csr((operator * (1 - ALPHA)).astype(np.float32))
        return csr, torch.from_numpy(np.float32(ALPHA) * x)

    def load(self, z):
        import torch

        return torch.from_numpy(z)

    def iterate(self, prepared, z, count):
        import torch

        matrix, base = prepared
        with torch.no_grad():
            for _ in range(count):
                z = torch.addmm(base, matrix, z)
        return z

    def read(self, z):
        return z.numpy()


class AppnpPeer(TorchPeer):
    name = "PyG APPNP"
    module = "torch_geometric"
    note = "always starts from x"
    warm = False

    def prepare(self, operator, x):
        import torch

        csr = torch_csr(operator.astype(np.float32))
        return csr, torch.from_numpy(x)

    def iterate(self, prepared, z, count):
        import torch
        from torch_geometric.nn import APPNP

        matrix, x = prepared
        layer = APPNP(K=count, alpha=ALPHA, add_self_loops=False, normalize=False)
        with torch.no_grad():
            return layer(x, matrix)


class SknetworkPeer(ScipyPeer):
    """The power series of one non-negative column. Its result is z over the sum of z."""

    name = "scikit-network"
    module = "sknetwork"
    note = "one column of abs(x), times F"
    warm = False
    columns = 1

    def prepare(self, operator, x):
        # PageRank takes the adjacency; P transposed has its pattern.
        adjacency = operator.T.tocsr()
        adjacency.data[:] = 1
        return adjacency, np.abs(x[:, 0]).astype(np.float64)

    def iterate(self, prepared, z, count):
        from sknetwork.ranking import PageRank

        adjacency, weights = prepared
        solver = PageRank(damping_factor=1 - ALPHA, solver="RH", n_iter=count)
        return solver.fit_predict(adjacency, weights=weights)

    def column_error(self, z, exact: np.ndarray) -> float:
        return error(z[:, None] * exact.sum(), exact)

    def column(self, x):
        return np.abs(x[:, :1])


class NetworkitPeer(SknetworkPeer):
    """PageRank of one constant column. Its result is z over the sum of z for x = 1."""

    name = "networkit"
    module = "networkit"
    note = "one column of ones, times F"

    def prepare(self, operator, x):
        import networkit

        networkit.setNumberOfThreads(1)
        entries = operator.tocoo()
        graph = networkit.GraphFromCoo(
            (entries.col.astype(np.uint64), entries.row.astype(np.uint64)),
            n=operator.shape[0],
            directed=True,
        )
        return graph, networkit

    def iterate(self, prepared, z, count):
        graph, networkit = prepared
        rank = networkit.centrality.PageRank(graph, damp=1 - ALPHA, tol=1e-300)
        rank.maxIterations = count
        rank.run()
        return np.array(rank.scores())

    def column(self, x):
        return np.ones((len(x), 1), dtype=np.float32)


PEERS = [ScipyPeer, TorchPeer, AppnpPeer, SknetworkPeer, NetworkitPeer]


def installed(names: list[str] | None = None) -> list[ScipyPeer]:
    """The peers that can be imported; says which cannot."""
    found = []
    for peer in PEERS:
        if names and peer.module not in names:
            continue
        try:
            __import__(peer.module)
        except ImportError:
            print(f"{peer.name}: not installed: skipped", flush=True)
            continue
        found.append(peer())
    return found


def least_iterations(step, z: np.ndarray, exact: np.ndarray, tolerance: float):
    """Iterate `step` until the error is at most `tolerance`.

    Gives the number of iterations, the last z and its error. In float32 the error may stop
    falling above the tolerance; then the number is where it did.
    """
    best = (0, z, error(z, exact))
    for count in range(1, MAX_ITERATIONS + 1):
        if best[2] <= tolerance or count - best[0] > 12:
            break
        z = step(z)
        now = error(z, exact)
        if now < 0.98 * best[2]:
            best = (count, z, now)
    return best
