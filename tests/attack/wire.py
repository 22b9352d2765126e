"""wire.py -- bytes as they are written: requests that no library would send, and the answers that came to them."""
import contextlib
import re
import socket
import time

STATUS = re.compile(rb"^HTTP/1\.[01] (\d{3}) ?[^\r\n]*\r\n", re.M)


def request(line, *headers, body=b"", host="Host: a"):
    lines = [line, *([host] if host else []), *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def read_for(connection, seconds, enough=lambda data: False):
    """What comes within that time, or until it is enough, or the other side ends. And whether it ended."""
    data, end = b"", time.monotonic() + seconds
    while not enough(data):
        left = end - time.monotonic()
        if left <= 0:
            return data, False
        connection.settimeout(left)
        try:
            piece = connection.recv(65536)
        except TimeoutError:
            return data, False
        except OSError:
            return data, True
        if not piece:
            return data, True
        data += piece
    return data, False


def has_answer(data):
    """A whole answer with a length is there."""
    head, gap, body = data.partition(b"\r\n\r\n")
    while gap and head.startswith((b"HTTP/1.1 100", b"HTTP/1.0 100")):
        head, gap, body = body.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.I)
    return bool(gap) and (length is None or len(body) >= int(length[1]))


def codes(data):
    """The codes of the answers in it, without those that only say "go on"."""
    return [int(code) for code in STATUS.findall(data) if code != b"100"]


def send(connection, data):
    """As far as the other side takes it."""
    with contextlib.suppress(OSError):
        connection.sendall(data)


def ask(connection, data, seconds=10):
    """One request, one answer: its code (0: none came), all of it, and whether the connection has ended."""
    send(connection, data)
    answer, ended = read_for(connection, seconds, has_answer)
    found = codes(answer)
    return (found[-1] if found else 0), answer, ended


def half_close(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
