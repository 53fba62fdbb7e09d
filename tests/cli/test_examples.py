"""The examples do what they say."""

import json
import subprocess
import sys

from conftest import ROOT


def test_from_csv_and_nearest_nodes(tmp_path):
    # Two cliques that share one edge: the nearest nodes are of the same clique.
    lines = ["src,dst,time"]
    time = 0
    for clique in ["red", "blue"]:
        for i in range(5):
            for j in range(i):
                lines.append(f"{clique}-{i},{clique}-{j},{time % 7}")
                time += 1
    lines.append("red-0,blue-0,6")
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    script = ["bash", ROOT / "examples" / "from_csv.sh"]
    subprocess.run([*script, tmp_path / "edges.csv", tmp_path / "run"], check=True)
    script = [sys.executable, ROOT / "examples" / "nearest_nodes.py", tmp_path / "run", "red-3"]
    nearest = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    assert [line.split("-")[0] for line in nearest.splitlines()][:3] == ["red"] * 3


def test_history_beats_the_snapshot_in_the_quickstart(coden, tmp_path):
    assert coden("generate", "sbm", "--out", tmp_path).code == 0
    flags = ["--run.directory", tmp_path / "run", "--format", "json"]
    for part in ["edges", "features", "labels"]:
        flags += [f"--input.{part}", tmp_path / f"{part}.parquet"]
    average = {}
    for model in ["coden-s", "coden"]:
        outcome = coden("run", "pipelines/quickstart.ini", *flags, "--train.model", model)
        assert outcome.code == 0, outcome.stderr
        scores = [row["micro_f1"] for row in json.loads(outcome.stdout)["results"]]
        average[model] = sum(scores) / len(scores)
    assert average["coden"] > average["coden-s"] + 0.15
