"""`coden import` of the files that public temporal graph data sets come in."""

import json
import random

import pyarrow.parquet as pq
from conftest import rows

JODIE = """user_id,item_id,timestamp,state_label,comma_separated_list_of_features
0,0,0.0,0,-0.5,1.25
1,0,36.0,0,0.5,2
0,1,36.0,1,1,3
2,1,77.0,0,4,5
"""


def test_jodie(bring):
    outcome = bring(JODIE, kind="jodie")
    assert outcome.code == 0, outcome.stderr
    # Items follow the three users.
    assert rows(outcome.files["edges"]) == [(0, 3, 0), (1, 3, 36), (0, 4, 36), (2, 4, 77)]
    assert rows(outcome.files["labels"]) == [(0, 0, 0), (1, 0, 36), (0, 1, 36), (2, 0, 77)]
    assert set(outcome.files) == {"edges", "labels"}
    assert "2 features of interactions are not imported" in outcome.stderr
    assert outcome.tables["columns"][-1]["column"] == "5-6"
    assert "next: coden run" in outcome.stderr
    outcome = bring(JODIE, "--ids", "string", kind="jodie")
    assert rows(outcome.files["edges"])[2] == ("u0", "i1", 36)
    assert rows(outcome.files["labels"])[2] == ("u0", 1, 36)
    assert "ids of users and items must be" in bring("h,h,h,h\n-1,2,3,0\n", kind="jodie").error
    huge = f"h,h,h,h\n{2**63 - 1},2,3,0\n"
    assert "must add up to less than 2^63" in bring(huge, kind="jodie").error
    assert "coden import jodie` reads this" in bring(JODIE).error
    headless = bring(JODIE.split("\n", 1)[1], kind="jodie")
    assert headless.files["edges"].num_rows == 4


def test_jodie_features_as_updates(coden, bring):
    outcome = bring(JODIE, "--edge-features", "as-updates", kind="jodie")
    updates = outcome.files["feature_updates"]
    assert rows(updates) == [
        (0, 0, [-0.5, 1.25]), (1, 36, [0.5, 2]), (0, 36, [1, 3]), (2, 77, [4, 5])
    ]  # fmt: skip
    assert updates.schema.field("x").type.list_size == 2
    assert "--input.random_features 2" in outcome.stderr
    flags = [f"--input.{name}={outcome.out / name}.parquet" for name in outcome.files]
    flags += ["--input.random_features=2", f"--run.directory={outcome.out / 'run'}"]
    checked = coden("validate", *flags)
    assert checked.code == 0, checked.stdout + checked.stderr
    bad = bring(JODIE.replace("-0.5", "nan"), "--edge-features", "as-updates", kind="jodie")
    assert "line 2, column '" in bad.error and "finite" in bad.error


def test_jodie_without_labels_that_say_something(bring):
    outcome = bring(JODIE.replace("36.0,1", "36.0,0"), kind="jodie")
    assert set(outcome.files) == {"edges"}
    assert "every state label is 0" in outcome.stderr
    assert "next: coden embed" in outcome.stderr


def test_jodie_sorted(bring):
    random.seed(3)
    lines = [
        (random.randrange(50), random.randrange(40), random.randrange(99)) for _ in range(1000)
    ]
    text = "u,i,t,l,f\n" + "".join(f"{u},{i},{t},0,1\n" for u, i, t in lines)
    offset = max(u for u, _, _ in lines) + 1
    outcome = bring(text, "--sort", kind="jodie")
    ordered = sorted(lines, key=lambda row: row[2])
    assert rows(outcome.files["edges"]) == [(u, i + offset, t) for u, i, t in ordered]


def test_tgl(coden, tmp_path):
    folder = tmp_path / "WIKI"
    folder.mkdir()
    (folder / "edges.csv").write_text(
        ",src,dst,time,ext_roll\n0,1,8,0.0,0\n1,2,8,36.0,1\n2,1,9,77.0,2\n"
    )
    (folder / "labels.csv").write_text(
        ",node,time,label,ext_roll\n0,1,0.0,0,0\n1,2,36.0,0,0\n2,1,77.0,1,2\n"
    )
    outcome = coden("import", "tgl", folder, "--out", tmp_path / "o", "--format", "json")
    assert outcome.code == 0, outcome.stderr
    edges = pq.read_table(tmp_path / "o" / "edges.parquet")
    assert rows(edges) == [(1, 8, 0), (2, 8, 36), (1, 9, 77)]
    labels = pq.read_table(tmp_path / "o" / "labels.parquet")
    assert rows(labels) == [(1, 0, 0), (2, 0, 36), (1, 1, 77)]
    columns = json.loads(outcome.stdout)["columns"]
    assert [c["becomes"] for c in columns if c["name"] == "ext_roll"] == [None] * 2
    outcome = coden("import", "tgl", folder / "edges.csv", "--out", tmp_path / "p")
    assert outcome.code == 0
    assert [file.name for file in (tmp_path / "p").iterdir()] == ["edges.parquet"]
    (folder / "labels.csv").write_text(",node,time\n0,1,0.0\n")
    outcome = coden("import", "tgl", folder, "--out", tmp_path / "q")
    assert outcome.code == 3 and "there is no column 'label'" in outcome.error
    assert not list((tmp_path / "q").iterdir())
