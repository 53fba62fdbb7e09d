"""An HTTP proxy on this machine that spoils some of the requests it passes on."""

import contextlib
import dataclasses
import re
import socket
import struct
import subprocess
import sys
import threading
import time

HOST = "127.0.0.1"
MAX_CONNECTIONS = 64
SECONDS = 120  # of one connection
MANY = 10**9


@dataclasses.dataclass
class Toxic:
    """What happens to some requests: those of a method, from the first to the last of them."""

    kind: str
    method: str = "GET|PUT|HEAD|POST|DELETE"
    first: int = 1
    last: int = MANY
    seconds: float = 0.0
    path: str = ""  # a part of it

    def __post_init__(self):
        self.lock = threading.Lock()
        self.seen = 0
        self.done = 0

    def takes(self, method, path):
        if not re.fullmatch(self.method, method) or self.path not in path:
            return False
        with self.lock:
            self.seen += 1
            taken = self.first <= self.seen <= self.last
            self.done += taken
        return taken


class ConnectionEnded(Exception):
    pass


class Stream:
    """A socket read by lines and counts."""

    def __init__(self, connection):
        self.connection = connection
        self.waiting = b""

    def more(self):
        data = self.connection.recv(1 << 16)
        if not data:
            raise ConnectionEnded
        self.waiting += data

    def until(self, end):
        while end not in self.waiting:
            self.more()
        head, _, self.waiting = self.waiting.partition(end)
        return head + end

    def exactly(self, size):
        while len(self.waiting) < size:
            self.more()
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data

    def rest(self):
        with contextlib.suppress(ConnectionEnded):
            while True:
                self.more()
        data, self.waiting = self.waiting, b""
        return data


def length_of(head):
    found = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else 0


def body_of(head, stream):
    """The body of a request, as it is written on the line."""
    if not re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE):
        return stream.exactly(length_of(head))
    body = b""
    while True:
        line = stream.until(b"\r\n")
        size = int(line, 16)
        body += line + stream.exactly(size + 2)
        if size == 0:
            return body


def with_length(head, length):
    return re.sub(rb"(?i)(\r\ncontent-length: *)\d+", rb"\g<1>%d" % length, head)


def refusal(status, reason, code):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>toxic</Message></Error>"
    return (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/xml\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


REFUSALS = {
    "500": refusal(500, "Internal Server Error", "InternalError"),
    "503": refusal(503, "Slow Down", "SlowDown"),
}


class ToxicProxy:
    """Pass requests on to `target`, a port of this machine, except for what `toxics` say."""

    def __init__(self, target):
        self.target = target
        self.toxics = []
        self.num_requests = 0
        self.slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.server = socket.create_server((HOST, 0))
        self.port = self.server.getsockname()[1]
        self.open = True
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open = False
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def accept(self):
        while self.open:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.slots.acquire()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError, ConnectionEnded), connection:
            connection.settimeout(SECONDS)
            stream = Stream(connection)
            while self.open:
                self.pass_on(connection, stream)
        self.slots.release()

    def pass_on(self, connection, stream):
        head = stream.until(b"\r\n\r\n")
        self.num_requests += 1
        method, path = head.split(b" ", 2)[:2]
        method, path = method.decode(), path.decode()
        toxic = next((toxic for toxic in self.toxics if toxic.takes(method, path)), None)
        kind = toxic.kind if toxic else ""
        if b"100-continue" in head:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if kind == "cut request":
            stream.more()
            reset(connection)
        body = body_of(head, stream)
        if kind in REFUSALS:
            connection.sendall(REFUSALS[kind])
            return
        if kind == "slow":
            time.sleep(toxic.seconds)
        if kind == "never":
            time.sleep(SECONDS)
            raise ConnectionEnded
        answer, content = self.ask(head, body, method)
        half = content[: len(content) // 2]
        if kind in ("cut answer", "stalled answer", "ended answer"):
            connection.sendall(answer + half)
            if kind == "cut answer":
                reset(connection)
            if kind == "stalled answer":
                time.sleep(toxic.seconds)
            raise ConnectionEnded
        if kind == "short answer" and method != "HEAD":
            answer, content = with_length(answer, len(half)), half
        connection.sendall(answer + content)

    def ask(self, head, body, method):
        head = re.sub(rb"(?i)\r\n(connection|expect): [^\r]*", b"", head)
        head = head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        with socket.create_connection((HOST, self.target), timeout=SECONDS) as upstream:
            upstream.sendall(head + body)
            stream = Stream(upstream)
            answer = stream.until(b"\r\n\r\n")
            content = b"" if method == "HEAD" else stream.rest()
        answer = re.sub(rb"(?i)\r\nconnection: [^\r]*", b"", answer)
        if method != "HEAD" and b"\r\ncontent-length:" not in answer.lower():
            answer = answer.replace(b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(content))
        return answer, content


def reset(connection):
    """End a connection as a broken line does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    raise ConnectionEnded


@contextlib.contextmanager
def s3_server():
    """An empty S3 server on this machine; its port."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection((HOST, port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()
