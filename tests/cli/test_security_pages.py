"""Pages about data that is full of markup: not an element or attribute comes from it."""

import html.parser
import pathlib
import shutil
import tempfile

import forked
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SMALL = ["--train.epochs", "1", "--train.hidden", "4", "--partition.predictions", "2"]


@pytest.fixture
def tmp_path():
    """Where syncing takes no time, if there is such a place."""
    with tempfile.TemporaryDirectory(dir=forked.SCRATCH) as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def program():
    with forked.Forked() as server:
        yield server.call


MARKUP = [
    "<script>alert(1)</script>",
    "</textarea></title></style><img src=x onerror=alert(1)>",
    '"\' onmouseover="alert(1)" x=\'',
    "--><svg/onload=alert(1)><!--",
    "]]><b>x</b>",
    "a\u2028b\u2029c\u202ed",
    "</script><script>alert(2)//",
    "&lt;i&gt;&#60;u&#62;",
    "{{7*7}}${7*7}`x`",
]


class Structure(html.parser.HTMLParser):
    """The elements and attributes of a page, and what its own scripts and styles are."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.code, self.inside = [], [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        # Numbers, names and pictures may differ between two data sets; what acts may not.
        acting = {
            (name, value)
            for name, value in attributes
            if name.startswith("on") or name in ("src", "href", "style", "http-equiv", "content")
        }
        self.elements.append(
            (tag, tuple(sorted(name for name, _ in attributes)), frozenset(acting))
        )
        typed = dict(attributes).get("type")
        self.inside = tag if tag in ("script", "style") and typed is None else None

    def handle_endtag(self, tag):
        self.elements.append(("/", tag))
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.code.append(data)

    def handle_comment(self, data):
        self.elements.append(("comment", data))

    def handle_decl(self, decl):
        self.elements.append(("declaration", decl))

    def unknown_decl(self, data):
        self.elements.append(("unknown declaration", data))


def write_set(folder, word):
    """A data set whose every name is `word(number)`; returns flags."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    ids = [word(number) for number in range(80)]
    src, dst = ([ids[i] for i in random.integers(0, 80, 200)] for _ in range(2))
    names = {key: word(20 + i) for i, key in enumerate(["src", "dst", "time", "node", "label"])}
    pq.write_table(
        pa.table({names["src"]: src, names["dst"]: dst, names["time"]: np.arange(200) // 2}),
        folder / "edges.parquet",
    )
    labels = [word(30 + number % 3) for number in range(80)]
    pq.write_table(
        pa.table({names["node"]: ids, names["label"]: labels}), folder / "labels.parquet"
    )
    # The names decide the random features, and with them when to take snapshots, and the split.
    flags = ["--input.random_features", "3", "--sample.lambda", "1e6", "--train.split_by", "time"]
    flags += [*SMALL, "--train.patience", "0", "--quiet"]
    for key, name in names.items():
        flags += [f"--input.{key}", name]
    for name in ("edges", "labels"):
        flags += [f"--input.{name}", folder / f"{name}.parquet"]
    return flags


def test_no_page_takes_markup_from_data(program, tmp_path):
    """The pages of a data set full of markup have the elements of those of a plain one."""
    words = {
        "plain": lambda number: f"name {number}",
        "markup": lambda number: f"{MARKUP[number % len(MARKUP)]} {number}",
    }
    folders = {
        "plain": tmp_path / "plain set",
        "markup": tmp_path / "<script>alert(3)<" / "\"'><img src=x onerror=alert(4)>",
    }
    pages = {}
    for kind, word in words.items():
        flags = write_set(folders[kind], word)
        run = folders[kind] / "run"
        outcome = program("run", *flags, "--run.directory", run)
        assert outcome.code == 0, outcome.stderr
        compare = folders[kind] / "compare.html"
        again = folders[kind] / "run of more"
        shutil.copytree(run, again)
        outcome = program("report", "--compare", run, again, "--out", compare)
        assert outcome.code == 0, outcome.stderr
        suite = folders[kind] / "suite"
        settings = ["--run.directory", run, "--experiment.directory", suite]
        outcome = program("experiment", "accuracy", *flags, *settings)
        assert outcome.code == 0, outcome.stderr
        experiment = next(suite.rglob("*.html"))
        pages[kind] = [path.read_text() for path in (run / "report.html", compare, experiment)]
    for plain, marked in zip(pages["plain"], pages["markup"], strict=True):
        expected, found = Structure(plain), Structure(marked)
        assert found.elements == expected.elements
        assert found.code == expected.code
        assert "\u2028" not in marked and "\u202e" not in marked
        # Markup that was not escaped would be seen.
        raw = marked.replace("&lt;", "<")
        assert raw == marked or Structure(raw).elements != expected.elements
    # The names did get there.
    assert "&lt;svg/onload=alert(1)&gt;" in pages["markup"][0]
