"""asking.py -- one question to one node in CQL: enough of the native protocol to see whether a cluster is ready.

The product's own client is what the cluster is there to test, so it is not asked here."""
import socket
import struct

STARTUP, READY, QUERY, RESULT = 1, 2, 7, 8
ROWS, GLOBAL_TABLE = 2, 1
CONSISTENCY_ONE = 1


class Reader:
    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, size):
        self.at += size
        return self.body[self.at - size:self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def short_text(self):
        return self.take(self.number(">H")).decode()

    def value(self):
        size = self.number(">i")
        return None if size < 0 else self.take(size)


def send(connection, opcode, body):
    connection.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)


def receive(stream):
    head = stream.read(9)
    if len(head) < 9:
        raise OSError("the node closed the connection")
    _, _, _, opcode, size = struct.unpack(">BBhBi", head)
    return opcode, stream.read(size)


def rows(body):
    """The rows of a RESULT whose columns are of simple types; each value as its bytes."""
    reader = Reader(body)
    if reader.number(">i") != ROWS:
        return []
    flags, columns = reader.number(">i"), reader.number(">i")
    if flags & GLOBAL_TABLE:
        reader.short_text(), reader.short_text()
    for _ in range(columns):
        reader.short_text(), reader.number(">H")
    return [[reader.value() for _ in range(columns)] for _ in range(reader.number(">i"))]


def ask(address, port, text, timeout=3):
    """The rows of the answer. OSError when there is none."""
    with socket.create_connection((address, port), timeout) as connection, connection.makefile("rb") as stream:
        send(connection, STARTUP, struct.pack(">H", 1) + b"".join(struct.pack(">H", len(word)) + word
                                                                 for word in (b"CQL_VERSION", b"3.0.0")))
        if receive(stream)[0] != READY:
            raise OSError("the node is not ready")
        question = text.encode()
        send(connection, QUERY, struct.pack(">i", len(question)) + question + struct.pack(">HB", CONSISTENCY_ONE, 0))
        opcode, body = receive(stream)
        if opcode != RESULT:
            raise OSError(f"the node answered {body!r}")
        return rows(body)
