#!/usr/bin/env python3
"""How many iterations each method needs: why the engine sweeps as it does.

    .venv/bin/python tests/bench/iterations.py --data FOLDER

Counts, in float64, the iterations until the 1-norm of the residue is within 1e-7 per node, from
nothing, for features ~ N(0,1) and alpha 0.2. An iteration follows every arc once. Nodes are in
the order of the scenario.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import graphs
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve_triangular
from solvers import ALPHA
from table import render

WALK = 1 - ALPHA
BUDGET = 1e-7
MOST = 90


def count(p, x, iterate) -> str:
    """`iterate` yields approximations of z; the number it takes, or a dash."""
    for number, z in enumerate(iterate, start=1):
        residue = x - (z - WALK * (p @ z)) / ALPHA
        if np.abs(residue).sum(axis=0).max() <= BUDGET * len(x):
            return str(number)
        if number == MOST:
            break
    return "-"


def jacobi(p, x):
    z = np.zeros_like(x)
    while True:
        z = ALPHA * x + WALK * (p @ z)
        yield z


def sweeps(p, x, relaxation, alternate=False):
    identity = sp.identity(len(x), format="csr")
    below, above = WALK * sp.tril(p, -1, "csr"), WALK * sp.triu(p, 1, "csr")
    loops = WALK * p.diagonal()[:, None]
    forward = (identity - relaxation * below).tocsr()
    backward = (identity - relaxation * above).tocsr()
    z = np.zeros_like(x)
    turn = 0
    while True:
        lower = not (alternate and turn % 2)
        rest = above if lower else below
        right = relaxation * (ALPHA * x + rest @ z + loops * z) + (1 - relaxation) * z
        z = spsolve_triangular(
            forward if lower else backward, right, lower=lower, unit_diagonal=True
        )
        turn += 1
        yield z


def chebyshev(p, x):
    """On [alpha, 2 - alpha], the spectrum of a symmetrisable graph."""
    z, step, rho = np.zeros_like(x), None, WALK
    while True:
        defect = ALPHA * x - z + WALK * (p @ z)
        if step is None:
            step = defect
        else:
            after = 1 / (2 / WALK - rho)
            step = after * rho * step + 2 * after / WALK * defect
            rho = after
        z = z + step
        yield z


def conjugate_gradients(p, x, degrees):
    """In the inner product that makes the matrix symmetric."""
    weight = 1 / np.maximum(degrees, 1)[:, None]
    z, residue = np.zeros_like(x), ALPHA * x
    direction, norm = residue, (weight * residue**2).sum(axis=0)
    while True:
        image = direction - WALK * (p @ direction)
        length = norm / (weight * direction * image).sum(axis=0)
        z, residue = z + length * direction, residue - length * image
        after = (weight * residue**2).sum(axis=0)
        direction, norm = residue + after / norm * direction, after
        yield z


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CODEN_DATA", "data")))
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--rmat-nodes", type=int, default=500_000)
    args = parser.parse_args()
    scenarios = [
        graphs.real_graph(name, args.data, args.columns) for name in ("DBLP undirected", "git_rust")
    ]
    scenarios.append(graphs.rmat(args.rmat_nodes, 10 * args.rmat_nodes, args.columns, 10, 1))
    scenarios = [scenario for scenario in scenarios if scenario is not None]
    best = 2 / (1 + np.sqrt(1 - WALK**2))
    rows: dict[str, list[str]] = {}
    for scenario in scenarios:
        p = scenario.operator(0).astype(np.float64).tocsr()
        x = scenario.features.astype(np.float64)
        degrees = np.diff(p.tocsc().indptr)
        methods = {
            "Jacobi": jacobi(p, x),
            "Gauss-Seidel, all sweeps one way": sweeps(p, x, 1.0),
            "Gauss-Seidel, to and fro": sweeps(p, x, 1.0, alternate=True),
            "Chebyshev": chebyshev(p, x),
            "conjugate gradients": conjugate_gradients(p, x, degrees),
            f"over-relaxed by {best:.3g}": sweeps(p, x, best),
            f"over-relaxed by {best:.3g}, to and fro": sweeps(p, x, best, alternate=True),
        }
        for name, iterate in methods.items():
            rows.setdefault(name, []).append(count(p, x, iterate))
    print(render(["iterations", *(s.name for s in scenarios)], [[k, *v] for k, v in rows.items()]))


if __name__ == "__main__":
    main()
