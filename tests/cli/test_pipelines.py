"""Every pipeline of pipelines/ is complete: its plan works on the data it is for."""

import pytest
from conftest import DATA, ROOT

PIPELINES = sorted(path.stem for path in (ROOT / "pipelines").glob("*.ini"))


def data_set(pipeline):
    """dblp_labels and dblp_paper are of dblp."""
    return "dblp" if pipeline.startswith("dblp_") else pipeline


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline_can_be_planned(coden, name, tmp_path):
    flags = []
    if name == "quickstart":
        assert coden("generate", "sbm", "--out", tmp_path).code == 0
        for part in ["edges", "features", "labels"]:
            flags += [f"--input.{part}", tmp_path / f"{part}.parquet"]
    elif not (DATA / data_set(name)).exists():
        pytest.skip(f"{DATA / data_set(name)} is not there")
    outcome = coden("plan", ROOT / "pipelines" / f"{name}.ini", *flags)
    assert outcome.code == 0, outcome.stderr
    assert "Prediction times" in outcome.stdout


def test_every_labelled_data_set_has_a_pipeline():
    if not DATA.exists():
        pytest.skip(f"{DATA} is not there")
    labelled = {path.parent.name for path in DATA.glob("*/labels.parquet")}
    assert labelled <= set(PIPELINES)
