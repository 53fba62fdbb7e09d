"""An S3 server that fails: the form of toxic_s3.py that CI runs."""

import pytest

pytest.importorskip("moto", reason="moto is not installed")

import toxic_s3  # noqa: E402
from toxic_s3 import LASTING, LONG, PASSING, Bucket  # noqa: E402


@pytest.fixture(scope="module")
def bucket():
    with Bucket.make() as bucket:
        yield bucket


def test_what_passes_is_not_noticed(bucket):
    """All kinds at once: each request meets the first that wants it."""
    toxics = [toxic for name in PASSING if name not in LONG for toxic in PASSING[name]]
    bucket.meet_passing(*toxics)


@pytest.mark.parametrize("name", ["500 to uploads", "answers short"])
def test_what_lasts_is_an_error(bucket, name):
    assert name in LASTING
    line, seconds = bucket.meet_lasting(*LASTING[name])
    assert seconds < toxic_s3.MOST_SECONDS and "error" in line
