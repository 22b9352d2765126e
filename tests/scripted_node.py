"""scripted_node.py -- one node of a Cassandra cluster by script: it says about itself what a test wants it to say.

It answers questions in words (QUERY), which is all that `ostraka cluster check` and the beginning of `serve` ask, and takes prepared calls by a list
of acts. What real nodes answer is tested on real nodes (tests/cluster); this is for nodes that nobody has at hand: old ones, badly set ones, ones
with a wrong clock, ones that fail at a certain call."""
import re
import socket
import struct
import threading
import time

ERROR, READY, AUTHENTICATE, SUPPORTED, RESULT, AUTH_SUCCESS = 0, 2, 3, 6, 8, 16
STARTUP, OPTIONS, QUERY, PREPARE, EXECUTE, REGISTER, BATCH, AUTH_RESPONSE = 1, 5, 7, 9, 10, 11, 13, 15
CLOSE, KEEP = "close", "keep"  # acts: ends the connection; never answers
BAD_LOGIN, SYNTAX, INVALID = 0x0100, 0x2000, 0x2200
KEYSPACE = "town"


def text(words):
    data = words.encode()
    return struct.pack(">H", len(data)) + data


def value(data):
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def collection(*parts):
    return struct.pack(">i", len(parts)) + b"".join(value(part) for part in parts)


def mapping(**pairs):
    return struct.pack(">i", len(pairs)) + b"".join(value(part.encode()) for pair in pairs.items() for part in pair)


def rows(names, *lines):
    """RESULT with columns of blobs."""
    head = struct.pack(">iii", 2, 1, len(names)) + text("system") + text("table")
    columns = b"".join(text(name) + struct.pack(">H", 3) for name in names)
    return RESULT, head + columns + struct.pack(">i", len(lines)) + b"".join(value(cell) for line in lines for cell in line)


def error(code, words):
    return ERROR, struct.pack(">i", code) + text(words)


class Node:
    """Well, but for what `settings` say:
    version, login ("user", "password"), copies (0: no such keyspace), schema (None: init has not finished), tables and missing (names),
    paxos, segment, sync, clock_s (ahead of ours), protocol. Each call takes the first of `acts`: an error's code, CLOSE or KEEP; when there is none
    left it is done. `calls` counts them."""

    def __init__(self, address="127.0.0.41", **settings):
        self.settings = {"version": "5.0.8", "login": None, "copies": 3, "schema": 1, "tables": (), "missing": (), "paxos": "v2",
                         "segment": "32MiB", "sync": "batch", "clock_s": 0, "protocol": 4, "gc_grace": 100 * 86400, **settings}
        self.acts, self.calls = [], 0
        self.listener = socket.create_server((address, 0))
        self.place = "%s:%d" % self.listener.getsockname()[:2]
        threading.Thread(target=self.accept, daemon=True).start()

    def __getattr__(self, name):
        return self.settings[name]

    @property
    def store(self):
        return f"cassandra://{self.place}/{KEYSPACE}"

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            self.talk(connection)
        except OSError:
            pass  # the other side has gone

    def talk(self, connection):
        with connection, connection.makefile("rb") as stream:
            while len(head := stream.read(9)) == 9:
                _, _, ticket, opcode, size = struct.unpack(">BBhBi", head)
                body = stream.read(size)
                if opcode in (EXECUTE, BATCH) and (act := self.take(body)) is not None:
                    if act == CLOSE:
                        connection.shutdown(socket.SHUT_RDWR)
                        return
                    if act == KEEP:
                        continue
                    answer, content = act
                else:
                    answer, content = self.answer(opcode, body)
                connection.sendall(struct.pack(">BBhBi", 0x80 | self.protocol, 0, ticket, answer, len(content)) + content)

    def take(self, body):
        self.calls += 1
        act = self.acts.pop(0) if self.acts else None
        if act is None:
            return rows(["[applied]"], [b"\1"]) if b"IF val" in body else (RESULT, struct.pack(">i", 1))
        return error(act, "as told") if isinstance(act, int) else act

    def answer(self, opcode, body):
        if self.protocol < 4:
            return error(0x000A, f"Invalid or unsupported protocol version (4); the highest is {self.protocol}")
        if opcode == STARTUP:
            return (AUTHENTICATE, text("org.apache.cassandra.auth.PasswordAuthenticator")) if self.login else (READY, b"")
        if opcode == AUTH_RESPONSE:
            right = body[4:] == b"\0" + b"\0".join(word.encode() for word in self.login)
            return (AUTH_SUCCESS, value(None)) if right else error(BAD_LOGIN, "Provided username and/or password are incorrect")
        if opcode == REGISTER:
            return READY, b""
        if opcode == OPTIONS:
            return SUPPORTED, struct.pack(">H", 0)
        if opcode == PREPARE:
            size = struct.unpack(">i", body[:4])[0]
            number = b"IF val" if b" IF " in body else b"plain"
            identity = number + bytes(str(hash(body[4:4 + size])), "ascii")[:20]
            return RESULT, struct.pack(">iH", 4, len(identity)) + identity + struct.pack(">iiiii", 0, 0, 0, 4, 0)
        if opcode != QUERY:
            return error(SYNTAX, "not in the script")
        size = struct.unpack(">i", body[:4])[0]
        return self.query(body[4:4 + size].decode())

    def query(self, words):
        table = re.search(r"FROM (\S+)", words)[1]
        old = self.version.startswith("3.")
        if old and table in ("system.peers_v2", "system_views.settings"):
            return error(INVALID, f"unconfigured table {table.split('.')[1]}")
        answers = {
            "system.local": self.local,
            "system.peers_v2": lambda _: rows(["peer"]),
            "system.peers": lambda _: rows(["peer"]),
            "system_schema.keyspaces": self.keyspace,
            "system_schema.tables": self.all_tables,
            "system_schema.columns": self.all_columns,
            "system_views.settings": self.all_settings,
            f"{KEYSPACE}.schema_version": self.schema_version,
        }
        return answers[table](words) if table in answers else error(INVALID, f"unconfigured table {table}")

    def local(self, words):
        if "now()" in words:
            return rows(["now"], [struct.pack(">q", int((time.time() + self.clock_s) * 1000))])
        if "schema_version" in words:
            return rows(["schema_version"], [b"s" * 16])
        if "release_version" not in words:
            return rows(["key"], [b"local"])
        return rows(["host_id", "data_center", "rack", "release_version", "tokens"],
                    [b"h" * 16, b"dc1", b"rack1", self.version.encode(), collection(b"0")])

    def keyspace(self, _):
        if not self.copies:
            return rows(["replication"])
        return rows(["replication"], [mapping(**{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy",
                                                 "dc1": str(self.copies)})])

    def schema_version(self, _):
        if self.schema is None:
            return error(INVALID, "unconfigured table schema_version")
        return rows(["version"], [struct.pack(">i", self.schema)])

    def names(self):
        return [name.encode() for name in self.tables if name not in self.missing]

    def all_tables(self, _):
        return rows(["table_name", "gc_grace_seconds", "read_repair"],
                    *([name, struct.pack(">i", self.gc_grace), b"BLOCKING"] for name in self.names()))

    def all_columns(self, _):
        ours = ((b"row", b"partition_key"), (b"col", b"clustering"), (b"val", b"regular"))
        return rows(["table_name", "column_name", "kind", "type"],
                    *([name, column, kind, b"blob"] for name in self.names() for column, kind in ours))

    def all_settings(self, _):
        return rows(["name", "value"], [b"paxos_variant", self.paxos.encode()],
                    [b"commitlog_segment_size", self.segment.encode()], [b"commitlog_sync", self.sync.encode()],
                    [b"storage_compatibility_mode", b"NONE"])
