"""Check the snapshots of a run against an independent computation with scipy.

    verify_snapshots.py RUN EDGES FEATURES [--directed] [--every N]
                        [--alpha 0.2] [--epsilon 1e-7] [--propagation mass|average|symmetric]

For every N-th snapshot the graph is built anew from the first `events` rows of the log
(insert events), the embedding is iterated to convergence in float64 with a sparse matrix, and
every column must satisfy ||h - z||_1 <= n * epsilon and the `error_bound` of the schedule, which
in turn may be at most ten times as large as the worst column's error. Ends with exit code 1 where
one does not.
"""

import argparse
import pathlib
import sys

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp


def column_matrix(table, name):
    column = table.column(name).combine_chunks()
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)


def exact_embedding(src, dst, features, num_nodes, args):
    """Iterate z <- alpha x + (1 - alpha) P z; the error shrinks by 1 - alpha each time."""
    if not args.directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    keep = src != dst
    adjacency = sp.coo_matrix(
        (np.ones(keep.sum()), (dst[keep], src[keep])), shape=(num_nodes, num_nodes)
    ).tocsr()
    adjacency.data[:] = 1.0  # tocsr added up repeated edges
    degree = np.asarray(adjacency.sum(axis=0)).ravel()
    power = {"mass": 0.0, "average": 1.0, "symmetric": 0.5}[args.propagation]
    scale = np.maximum(degree, 1.0)[:, None] ** power
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    transition = adjacency @ sp.diags(inverse)
    x = features * scale
    z = args.alpha * x
    for _ in range(int(np.ceil(np.log(1e-13) / np.log(1 - args.alpha)))):
        z = args.alpha * x + (1 - args.alpha) * (transition @ z)
    return z / scale


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("edges")
    parser.add_argument("features")
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--alpha", type=float, default=0.2)
    parser.add_argument("--epsilon", type=float, default=1e-7)
    parser.add_argument("--propagation", default="mass")
    args = parser.parse_args()

    edges = pq.read_table(args.edges, columns=["src", "dst"])
    src, dst = edges.column("src").to_numpy(), edges.column("dst").to_numpy()
    feature_table = pq.read_table(args.features)
    feature_nodes = feature_table.column("node").to_numpy()
    values = column_matrix(feature_table, "x").astype(np.float64)

    # Numbering of our own: sorted ids.
    ids = np.unique(np.concatenate([src, dst, feature_nodes]))
    src, dst = np.searchsorted(ids, src), np.searchsorted(ids, dst)
    features = np.zeros((len(ids), values.shape[1]))
    features[np.searchsorted(ids, feature_nodes)] = values

    schedule = pq.read_table(args.run / "schedule.parquet").to_pylist()
    worst, failed, checked, loosest = 0.0, 0, 0, 0.0
    for point in schedule[:: args.every]:
        path = args.run / f"snapshots/snapshot={point['snapshot']:06d}/part-0.parquet"
        snapshot = pq.read_table(path, partitioning=None)
        if snapshot.num_rows != point["num_nodes"]:
            sys.exit(f"{path}: {snapshot.num_rows} rows, the schedule says {point['num_nodes']}")
        rows = np.searchsorted(ids, snapshot.column("node").to_numpy())
        count = point["events"]
        exact = exact_embedding(src[:count], dst[:count], features, len(ids), args)
        error = np.abs(column_matrix(snapshot, "embedding") - exact[rows]).sum(axis=0).max()
        share = error / (snapshot.num_rows * args.epsilon)
        worst = max(worst, share)
        checked += 1
        proven = point["error_bound"] * snapshot.num_rows
        if error > 0:
            loosest = max(loosest, proven / error)
        if share > 1.0 or error > proven * (1 + 1e-9) or proven > 10 * error:
            failed += 1
            print(
                f"snapshot {point['snapshot']}: error {share:.3f} of the budget n * epsilon, "
                f"proven {proven / (snapshot.num_rows * args.epsilon):.3f}"
            )
    print(f"{checked} snapshots checked, worst column {worst:.3f} of the budget n * epsilon")
    print(f"the proven error is at most {loosest:.2f} times the true one")
    print(f"{checked - failed} passed, {failed} failed")
    sys.exit(1 if failed or not checked else 0)


main()
