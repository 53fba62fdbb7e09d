"""Ask DuckDB for the nodes whose embedding is most like a given node's, at the latest snapshot.

.venv/bin/python examples/nearest_nodes.py RUN NODE
"""

import sys

import duckdb

run, node = sys.argv[1:]
rows = duckdb.execute(
    """
    with latest as (
        select node, embedding from read_parquet(?, hive_partitioning = true)
        where snapshot = (select max(snapshot) from read_parquet(?))
    )
    select other.node, list_cosine_similarity(this.embedding, other.embedding) as similarity
    from latest as this, latest as other
    where this.node::varchar = ? and other.node <> this.node
    order by similarity desc limit 5
    """,
    [f"{run}/snapshots/*/*.parquet", f"{run}/schedule.parquet", node],
).fetchall()
for other, similarity in rows:
    print(f"{other}\t{similarity:.4f}")
