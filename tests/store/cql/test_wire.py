"""Our bytes beside those of Debian's python3-cassandra: the requests it would send, and how it reads the same answers."""
import ipaddress
import os
import pathlib
import random
import struct
import subprocess

import pytest
from cassandra import ConsistencyLevel
from cassandra.protocol import (AuthResponseMessage, BatchMessage, ExecuteMessage, OptionsMessage, PrepareMessage,
                                ProtocolHandler, QueryMessage, RegisterMessage, StartupMessage)
from cassandra.protocol import _UNSET_VALUE as UNSET
from cassandra.query import BatchType

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = pathlib.Path(os.environ.get("OSTRAKA_BUILD", ROOT / "build/test")) / "tests/store/cql/cql_wire_tool"
STREAM, VERSION = 5, 4
QUORUM, SERIAL = ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL
EVENT, RESULT, ERROR = 0x0C, 0x08, 0x00


def tool(word, lines=()):
    ended = subprocess.run([TOOL, word], input="".join(line + "\n" for line in lines), capture_output=True, text=True,
                           check=True, timeout=60)
    return ended.stdout.splitlines()


# --- requests --------------------------------------------------------------------------------------------------------

FOUR, ONE = [b"value", None, UNSET, b""], [b"value"]
STATEMENTS = [(True, b"first", FOUR), (True, b"second", []), (True, b"third", ONE)]
ID = b"0123456789abcdef"
REQUESTS = {
    "startup": StartupMessage(cqlversion="3.0.0", options={}),
    "options": OptionsMessage(),
    "log_in": AuthResponseMessage(b"\0ann\0secret"),
    "register": RegisterMessage(["TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE"]),
    "prepare": PrepareMessage("SELECT 'ä' FROM t"),
    "query": QueryMessage("SELECT * FROM t", QUORUM),
    "paged_query": QueryMessage("SELECT * FROM t", SERIAL, fetch_size=500),
    "execute": ExecuteMessage(ID, FOUR, QUORUM),
    "paged_execute": ExecuteMessage(ID, ONE, SERIAL, fetch_size=500),
    "conditional_execute": ExecuteMessage(ID, ONE, QUORUM, serial_consistency_level=SERIAL),
    "batch": BatchMessage(BatchType.UNLOGGED, STATEMENTS, QUORUM),
    "conditional_batch": BatchMessage(BatchType.UNLOGGED, STATEMENTS, QUORUM, serial_consistency_level=SERIAL),
}


@pytest.fixture(scope="module", name="ours")
def our_requests():
    return dict(line.split() for line in tool("requests"))


def test_both_know_the_same_requests(ours):
    assert set(ours) == set(REQUESTS)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_the_same_bytes(ours, name):
    theirs = ProtocolHandler.encode_message(REQUESTS[name], STREAM, VERSION, None, False)
    assert ours[name] == theirs.hex()


# --- answers ---------------------------------------------------------------------------------------------------------


def string(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


def value(content):
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def theirs(opcode, body):
    return ProtocolHandler.decode_message(VERSION, {}, STREAM, 0, opcode, body, None, None)


TYPES = [b"\x00\x03", b"\x00\x03", b"\x00\x03"]  # blobs, which both hand out as they are


def rows(luck):
    """The bytes of a result with columns of blobs, of one table or several, with more pages or without."""
    columns, count, one_table, more = luck.randint(1, 6), luck.randint(0, 8), luck.random() < 0.5, luck.random() < 0.5
    body = struct.pack(">iii", 2, (1 if one_table else 0) | (2 if more else 0), columns)
    body += value(luck.randbytes(9)) if more else b""
    table = string("keyspace") + string("täble")
    body += table if one_table else b""
    for column in range(columns):
        body += (b"" if one_table else table) + string(f"column{column}") + luck.choice(TYPES)
    body += struct.pack(">i", count)
    for _ in range(count * columns):
        body += value(luck.choice([None, b"", luck.randbytes(luck.randint(1, 300))]))
    return body


def as_line(message):
    words = ["1" if message.paging_state else "0", *message.column_names]
    for row in message.parsed_rows:
        words += ["|", *("null" if cell is None else "x" + cell.hex() for cell in row)]
    return " ".join(words)


def test_rows_are_read_alike():
    luck = random.Random(20)
    bodies = [rows(luck) for _ in range(300)]
    ours = tool("answers", ["rows " + body.hex() for body in bodies])
    assert ours == [as_line(theirs(RESULT, body)) for body in bodies]


EXTRA = {
    0x1000: struct.pack(">Hii", 4, 2, 1),
    0x1100: struct.pack(">Hii", 4, 1, 2) + string("CAS"),
    0x1200: struct.pack(">Hiib", 4, 1, 2, 0),
    0x1300: struct.pack(">Hiiib", 4, 1, 2, 1, 0),
    0x1500: struct.pack(">Hiii", 4, 1, 2, 1) + string("SIMPLE"),
    0x2400: string("keyspace") + string("table"),
    0x2500: string("0123456789abcdef"),
}


def test_errors_are_read_alike():
    codes = [0x0000, 0x000A, 0x0100, 0x1000, 0x1001, 0x1002, 0x1003, 0x1100, 0x1200, 0x1300, 0x1500, 0x2000, 0x2100, 0x2200,
             0x2300, 0x2400, 0x2500]
    bodies = [struct.pack(">i", code) + string(f"wörds of {code:x}") + EXTRA.get(code, b"") for code in codes]
    ours = tool("answers", ["error " + body.hex() for body in bodies])
    messages = [theirs(ERROR, body) for body in bodies]
    assert ours == [f"{message.code} {message.message}" for message in messages]


def test_events_are_read_alike():
    inet = b"\x04" + ipaddress.ip_address("127.0.0.3").packed + struct.pack(">i", 9042)
    six = b"\x10" + ipaddress.ip_address("fe80::3").packed + struct.pack(">i", 9042)
    bodies = {
        "up": string("STATUS_CHANGE") + string("UP") + inet,
        "down": string("STATUS_CHANGE") + string("DOWN") + six,
        "topology": string("TOPOLOGY_CHANGE") + string("NEW_NODE") + inet,
        "keyspace": string("SCHEMA_CHANGE") + string("CREATED") + string("KEYSPACE") + string("k"),
        "other": string("SCHEMA_CHANGE") + string("CREATED") + string("TABLE") + string("k") + string("t"),
    }
    ours = tool("answers", ["event " + body.hex() for body in bodies.values()])
    for kind, body, line in zip(bodies, bodies.values(), ours):
        message = theirs(EVENT, body)
        word, *place = line.split()
        assert word == kind
        if kind in ("up", "down"):
            address, port = message.event_args["address"]
            assert place == [ipaddress.ip_address(address).packed.hex(), str(port)]
