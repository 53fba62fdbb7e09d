"""`coden generate` does not replace files without --force."""

import pytest

USAGE = 2
SIZES = {
    "sbm": ["--nodes", "40", "--steps", "4"],
    "rmat": ["--scale", "4", "--edges", "50", "--features", "3", "--steps", "5"],
}


@pytest.mark.parametrize(
    "graph, name",
    [
        ("sbm", "edges"),
        ("sbm", "features"),
        ("sbm", "labels"),
        ("rmat", "edges"),
        ("rmat", "features"),
    ],
)
def test_an_existing_file_needs_force(coden, tmp_path, graph, name):
    path = tmp_path / f"{name}.parquet"
    path.write_text("of the user")
    command = ["generate", graph, "--out", tmp_path, *SIZES[graph]]
    outcome = coden(*command)
    assert (outcome.code, outcome.stdout) == (USAGE, "")
    assert outcome.error == (
        f"'{path}' already exists; choose another `--out`, or replace it with `--force`"
    )
    assert path.read_text() == "of the user"
    assert list(tmp_path.iterdir()) == [path]
    assert coden(*command, "--force").code == 0
    assert path.read_bytes().startswith(b"PAR1")


def test_a_file_that_is_not_written_is_not_in_the_way(coden, tmp_path):
    for name in ("labels", "features", "other"):
        (tmp_path / f"{name}.parquet").write_text("of the user")
    sizes = ["--scale", "4", "--edges", "50", "--steps", "5"]
    assert coden("generate", "rmat", "--out", tmp_path, *sizes).code == 0
    assert (tmp_path / "features.parquet").read_text() == "of the user"
