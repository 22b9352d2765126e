"""The port of clients of beanstalkd, with bytes that no client sends: lines without an end, numbers that are none, bodies that are announced and never come, clients
that read nothing, crowds, and guesses at tokens. Whatever comes, the site stays well and others are served."""
import contextlib
import random
import re
import socket
import time

import pytest
import wire
from attacked_site import HOST, LONG, OWN_NETWORK, PLAIN, SEED, address, wait_for

NUMBERS = ["", "-1", "+1", "1e3", "0x10", "1.0", "9" * 40, "4294967296", "18446744073709551616", "99999999999999999999", "\xa0", "1,000", "a"]
COMMANDS = ["put {} 0 60 1", "put 0 {} 60 1", "put 0 0 {} 1", "put 0 0 60 {}", "reserve-with-timeout {}", "delete {}", "release {} 0 0", "release 1 {} 0", "release 1 0 {}",
            "bury {} 0", "bury 1 {}", "touch {}", "kick-job {}", "peek {}", "stats-job {}", "reserve-job {}", "pause-tube default {}", "x-claim n={}", "x-claim wait={}",
            "x-claim lease={}", "x-put {}", "x-put 1 pri={}", "x-put 1 at={}", "x-put 1 keylen={}", "x-done {}"]


def open_site(begin, declared, **options):
    with socket.socket() as free:
        free.bind((HOST if OWN_NETWORK else "127.0.0.1", 0))
        port = free.getsockname()[1]
    site = begin("--journal-file", declared, "--journal-listen", f"{HOST if OWN_NETWORK else '127.0.0.1'}:{port}", "--journal-connections", "150",
                 "--journal-connections-per-address", "40", "--journal-bodies-bytes", "8M", **options)
    site.tubes = port
    return site


@pytest.fixture(scope="module")
def site(begin, post, declared):
    return open_site(begin, declared, post=post)


@pytest.fixture(scope="module")
def plain(begin, post, declared):
    """Where memory is measured: sanitizers keep what was freed."""
    return open_site(begin, declared, post=post, program=PLAIN)


@contextlib.contextmanager
def line(site, number=9, timeout=20):
    """A connection from that address."""
    source = (address(number), 0) if OWN_NETWORK else None
    with socket.create_connection((HOST if OWN_NETWORK else "127.0.0.1", site.tubes), timeout, source) as connection:
        yield connection


def ask(connection, data, seconds=5):
    """What comes to it, up to the end of a line."""
    wire.send(connection, data)
    return wire.read_for(connection, seconds, lambda got: got.endswith(b"\r\n"))[0]


def is_served(site, number=250):
    with line(site, number) as connection:
        assert ask(connection, b"list-tube-used\r\n") == b"USING default\r\n"
    site.is_well()


@pytest.mark.parametrize("size", [225, 5000, 4 << 20])
def test_a_line_that_is_too_long_is_swallowed_and_the_next_is_read(site, size):
    with line(site) as connection:
        assert ask(connection, b"use " + b"a" * size + b"\r\n", 20) == b"BAD_FORMAT\r\n"
        assert ask(connection, b"list-tube-used\r\n") == b"USING default\r\n"


def test_a_line_without_an_end_holds_little(plain):
    grown = []
    for _ in range(3):  # a site that has just begun grows by itself
        before = plain.memory_mb()
        with line(plain) as connection:
            wire.send(connection, b"use " + b"a" * (32 << 20))
            grown.append(plain.memory_mb() - before)
            is_served(plain)
    assert min(grown) < 8, grown


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_number_is_bad_format(site, command):
    body = b"x\r\n" if command.startswith("x-put 1") else b""
    for number in NUMBERS:
        with line(site) as connection:
            got = ask(connection, command.format(number).encode("latin-1") + b"\r\n" + body)
            assert re.match(rb"(BAD_FORMAT|UNKNOWN_COMMAND|NOT_FOUND|X-ERROR \w+)", got), (command, number, got)
            assert not re.match(rb"(INSERTED|RESERVED|DELETED|INTERNAL|OUT_OF)", got), (command, number, got)


def test_a_huge_body_is_refused_and_never_held(plain):
    before = plain.memory_mb()
    for size in (1 << 21, 1 << 31, (1 << 32) - 1):
        with line(plain) as connection:
            got = ask(connection, b"put 0 0 60 %d\r\n" % size + b"x" * 100000, 2)
            assert got in (b"", b"JOB_TOO_BIG\r\n"), got
    assert plain.memory_mb() - before < 8
    is_served(plain)


def test_bodies_that_never_come_share_bounded_memory(plain):
    """Each says that it sends a megabyte, and sends all but its end."""
    before = plain.memory_mb()
    with contextlib.ExitStack() as stack:
        for number in range(30):
            connection = stack.enter_context(line(plain, 20 + number % 10))
            connection.settimeout(1)
            wire.send(connection, b"put 0 0 60 1000000\r\n" + b"x" * 900000)
        assert plain.memory_mb() - before < 24
        is_served(plain)


def test_a_client_that_reads_nothing_is_not_read_either(site):
    with line(site, 30) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        sent, until = 0, time.monotonic() + 5
        while time.monotonic() < until:
            try:
                sent += connection.send(b"stats\r\n" * 5000)
            except BlockingIOError:
                time.sleep(0.05)
        assert sent < 16 << 20, "its commands are taken without end"
        is_served(site)


def test_a_slow_client_holds_up_nobody(site):
    with line(site, 31) as slow:
        for letter in b"put 0 0 60 5\r\nab":
            wire.send(slow, bytes([letter]))
            begun = time.monotonic()
            with line(site, 32) as quick:
                assert ask(quick, b"list-tube-used\r\n") == b"USING default\r\n" and time.monotonic() - begun < 2


def test_a_crowd_of_one_address_is_bounded(site):
    if not OWN_NETWORK:
        pytest.skip("loopback is exempt")
    with contextlib.ExitStack() as stack:
        answered = 0
        for _ in range(60):
            connection = stack.enter_context(line(site, 40))
            answered += ask(connection, b"list-tube-used\r\n", 1) == b"USING default\r\n"
        assert answered == 40
        is_served(site, 41)


def test_connections_in_all_are_bounded_and_come_free_again(site):
    with contextlib.ExitStack() as stack:
        for number in range(200):
            with contextlib.suppress(OSError):
                stack.enter_context(line(site, 50 + number % 20))
        site.is_well()
    wait_for(lambda: is_served(site) is None, 20, "room")


def test_guesses_at_tokens_are_slow_and_say_nothing(site):
    luck = random.Random(SEED)
    with line(site, 33) as connection:
        for number in range(2000 if LONG else 200):
            got = ask(connection, b"x-auth " + luck.choice([b"%032x" % luck.getrandbits(128), b"ostraka_%032x" % luck.getrandbits(128), b"x" * 3000, b"\xff" * 40, b"a b"]) + b"\r\n")
            assert got.startswith((b"X-ERROR", b"BAD_FORMAT")) or got == b"", got
            if got == b"":
                break
    if OWN_NETWORK:  # another machine, as it seems: nothing is for it without a token
        with line(site, 34) as connection:
            assert ask(connection, b"put 0 0 60 1\r\nx\r\n") == b"NOT_FOUND\r\n"
            assert ask(connection, b"reserve-with-timeout 0\r\n").startswith((b"NOT_FOUND", b"TIMED_OUT"))
    is_served(site)


def test_random_bytes_are_survived(site):
    luck = random.Random(SEED + 1)
    words = [b"put", b"reserve", b"delete", b"x-put", b"x-claim", b"x-done", b"use", b"watch", b"stats", b"\r\n", b"\n", b"\0", b" ", b"1", b"999999", b"key=%ff", b"\xff"]
    for number in range(2000 if LONG else 150):
        with line(site, 60 + number % 10) as connection:
            wire.send(connection, b"".join(luck.choice(words) + luck.choice([b" ", b"", b"\r\n"]) for _ in range(luck.randint(1, 200))))
            wire.half_close(connection)
            wire.read_for(connection, 2)
    is_served(site)
