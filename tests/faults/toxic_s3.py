"""Runs in an S3 server that answers with errors, slowly, in part or not at all.

    python tests/faults/toxic_s3.py           every case, also those that wait for time limits

What passes is repeated by the client until it succeeds, and nobody notices. What lasts ends the
run with one line, in bounded time, without a secret; the commit of before stays whole, and the
next run through a healthy line ends with the files of a local one.
"""

import argparse
import contextlib
import dataclasses
import pathlib
import tempfile
import time

from failures import quick_folder
from pyarrow import fs
from scenarios import USER_FILES, call, coden, committed, make_scenarios
from toxic_proxy import HOST, Toxic, ToxicProxy, s3_server

SECRET = "planted-secret"
BUCKET = "toxic-bucket"
CODES = {1, 3, 4, 5, 6}
# The client repeats a request that fails up to thirty times, and gives one up that does not
# answer for three seconds.
MOST_SECONDS = 240

PASSING = {
    "500": [Toxic("500", first=3, last=3)],
    "503": [Toxic("503", first=10, last=12)],
    "slow": [Toxic("slow", seconds=0.2, first=5, last=15)],
    "very slow": [Toxic("slow", seconds=6, first=5, last=5)],
    "answer cut": [Toxic("cut answer", method="GET", first=4, last=5)],
    "answer ended early": [Toxic("ended answer", method="GET", path="parquet", first=2, last=3)],
    "answer stalled": [Toxic("stalled answer", method="GET", seconds=20, first=2, last=2)],
    "request cut": [Toxic("cut request", method="PUT", first=2, last=3)],
    "503 to uploads": [Toxic("503", method="PUT|POST", first=4, last=9)],
}
LASTING = {
    "500 to everything": [Toxic("500")],
    "500 to uploads": [Toxic("500", method="PUT", first=3)],
    "503 to publishing": [Toxic("503", method="PUT|POST", path="manifest-")],
    "500 to reads": [Toxic("500", method="GET", path="data/new/part-1.parquet")],
    "answers cut": [Toxic("cut answer", method="GET", path="data/new/part-1.parquet")],
    "answers short": [Toxic("short answer", method="GET", path="data/new/part-1.parquet")],
    "state short": [Toxic("short answer", method="GET", path="run/state/")],
    "manifest short": [Toxic("short answer", method="GET", path="manifest-")],
    "list short": [Toxic("short answer", method="GET", path="list-type", first=2)],
    "uploads cut": [Toxic("cut request", method="PUT", first=4)],
    "no answer": [Toxic("never", first=60)],
}
# These wait for time limits of the client.
LONG = {"very slow", "answer stalled", "no answer"}


@dataclasses.dataclass
class Bucket:
    """A bucket with a run of the old log in it, behind a proxy, and what must come of it."""

    folder: pathlib.Path
    store: fs.FileSystem
    proxy: ToxicProxy
    flags: list
    expected: dict

    @staticmethod
    @contextlib.contextmanager
    def make():
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=quick_folder()))
            folder = pathlib.Path(folder)
            port = stack.enter_context(s3_server())
            proxy = stack.enter_context(ToxicProxy(port))
            scenario = make_scenarios(folder, nodes=60, sample_lambda=100)[1]
            scenario.start(folder / "run")
            coden(*scenario.arguments(folder / "run"))
            store = fs.S3FileSystem(
                access_key="me",
                secret_key=SECRET,
                endpoint_override=f"{HOST}:{port}",
                scheme="http",
                region="us-east-1",
                allow_bucket_creation=True,
            )
            store.create_dir(BUCKET)
            bucket = Bucket(folder, store, proxy, [], committed(folder / "run"))
            for flag in scenario.command:
                inside = isinstance(flag, pathlib.Path)
                bucket.flags.append(bucket.uri(flag.relative_to(folder)) if inside else flag)
            # One commit: every request takes time.
            bucket.flags[bucket.flags.index("--run.commit_interval") + 1] = "30"
            bucket.upload(folder / "data", "data")
            yield bucket

    def uri(self, name):
        line = f"?endpoint_override={HOST}:{self.proxy.port}&scheme=http"
        return f"s3://me:{SECRET}@{BUCKET}/{name}{line}"

    def upload(self, folder, name):
        local = fs.LocalFileSystem()
        fs.copy_files(str(folder), f"{BUCKET}/{name}", local, self.store)

    def start(self):
        if self.store.get_file_info(f"{BUCKET}/run").type == fs.FileType.Directory:
            self.store.delete_dir(f"{BUCKET}/run")
        self.upload(self.folder / "old-run", "run")

    def run(self, *toxics):
        """Add the new rows to the run, through these."""
        self.proxy.toxics = list(toxics)
        begin = time.monotonic()
        outcome = call(
            *[*self.flags, "--run.directory", self.uri("run"), "--quiet"], timeout=MOST_SECONDS
        )
        self.proxy.toxics = []
        for toxic in toxics:
            assert toxic.done, f"no request met {toxic}"
        assert SECRET not in outcome.errors, "a secret is shown"
        return outcome, time.monotonic() - begin

    def check_files(self):
        copy = self.folder / "copy"
        copy.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=copy) as name:
            fs.copy_files(f"{BUCKET}/run", name, self.store, fs.LocalFileSystem())
            found = committed(pathlib.Path(name))
            names = (found.keys() | self.expected.keys()) - set(USER_FILES)  # are not uploaded
            other = {name for name in names if found.get(name) != self.expected.get(name)}
            assert not other, f"other files than a local run: {sorted(other)}"

    def meet_passing(self, *toxics):
        """How many seconds a run takes that nobody must notice these in."""
        self.start()
        outcome, seconds = self.run(*toxics)
        assert outcome.code == 0, outcome.errors
        self.check_files()
        return seconds

    def meet_lasting(self, *toxics):
        """The error and how many seconds a run takes that ends because of these."""
        self.start()
        outcome, seconds = self.run(*toxics)
        what = f"{outcome.code}, {outcome.errors!r}"
        assert outcome.code in CODES, f"after {seconds:.0f} s: {what}"
        line = outcome.errors.removesuffix("\n")
        assert " coden: error: " in line and line.isprintable(), f"one line: {what}"
        coden("verify", self.uri("run"))
        again, _ = self.run()
        assert again.code == 0, f"the next run fails: {again.errors}"
        self.check_files()
        return line, seconds


def main():
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    begin = time.monotonic()
    with Bucket.make() as bucket:
        print(f"{'undisturbed':20} {bucket.meet_passing():5.1f} s", flush=True)
        for name, toxics in PASSING.items():
            print(f"{name:20} {bucket.meet_passing(*toxics):5.1f} s", flush=True)
        for name, toxics in LASTING.items():
            line, seconds = bucket.meet_lasting(*toxics)
            print(f"{name:20} {seconds:5.1f} s  {line}", flush=True)
    print(f"{time.monotonic() - begin:.0f} seconds")


if __name__ == "__main__":
    main()
