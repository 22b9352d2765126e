"""Handlers that wait or compute for long run on threads of their own, so many at once, and hold up nobody."""
import contextlib
import time

ASK = b"GET /slowly?ms=%d HTTP/1.1\r\nHost: a\r\n\r\n"
SAVE = b"POST /save?ms=%d HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

TOGETHER = b"POST /together?ms=%d&n=%d HTTP/1.1\r\nHost: a\r\nCookie: who=%s\r\nContent-Length: 0\r\n\r\n"


def test_slow_requests_hold_up_nobody_and_are_bounded(start):
    server = start(web_threads=1, password_threads=2, password_queue=2)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(4)]
        for client in slow:
            client.send(ASK % 700)
        time.sleep(0.2)
        began = time.monotonic()
        with server.connect() as fifth:
            refused = fifth.get("/slowly?ms=700")
            assert refused.code == 429 and b"at this moment" in refused.body
            for _ in range(20):
                assert fifth.get("/page").code == 200
        assert time.monotonic() - began < 0.4, "a slow handler held up the only thread"
        assert [client.answer().body for client in slow] == [b"slept\n"] * 4
        assert 0.9 < time.monotonic() - began < 3
        assert slow[0].get("/slowly?ms=0").code == 200
        assert slow[0].get("/slowly").code == 400
    server.end()


def test_saves_hold_up_neither_pages_nor_log_ins_and_are_bounded(start):
    server = start(web_threads=1, save_threads=2, save_queue=1, password_threads=1, password_queue=0)
    with contextlib.ExitStack() as stack:
        saves = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in saves:
            client.send(SAVE % 700)
        time.sleep(0.2)
        began = time.monotonic()
        with server.connect() as other:
            other.send(SAVE % 0)
            refused = other.answer()
            assert refused.code == 503 and b"save something at this moment" in refused.body
            assert refused.header("Retry-After") == "5"
            assert other.get("/page").code == other.get("/slowly?ms=0").code == 200
        assert time.monotonic() - began < 0.4, "a save held up somebody"
        assert [client.answer().body for client in saves] == [b"slept\n"] * 3
        assert 0.9 < time.monotonic() - began < 3
    server.end()


FROM = "X-Forwarded-For: 203.0.%d.7"


def test_pages_that_take_long_hold_up_nobody_and_are_bounded_for_each_address(start):
    server = start(web_threads=1, page_threads=1, page_queue=2, page_queue_per_address=1, trusted_proxies="127.0.0.1")
    page = "/computed?ms=800&name=%s"
    assert server.get("/computed?ms=0&name=kept", FROM % 1).code == 200
    with contextlib.ExitStack() as stack:
        first, second, third, other = (stack.enter_context(server.connect()) for _ in range(4))
        for number, client in enumerate((first, second, third), 1):
            client.send(b"GET /computed?ms=800&name=%d HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n" % (number, (FROM % number).encode()))
            time.sleep(0.1)
        began = time.monotonic()
        of_address, of_all = other.get(page % "x", FROM % 1), other.get(page % "x", FROM % 4)
        assert of_address.code == 429 and b"your network address" in of_address.body
        assert of_all.code == 503 and b"at this moment" in of_all.body
        for _ in range(20):
            assert other.get("/page", FROM % 1).code == 200
            assert other.get("/computed?ms=0&name=kept", FROM % 1).code == 200, "what is kept needs no place"
            assert other.get("/computed?ms=0&name=kept", FROM % 1, "Cookie: session=nonsense").code == 200
        assert time.monotonic() - began < 0.6, "a page that takes long held up somebody"
        assert [client.answer().code for client in (first, second, third)] == [200] * 3
        assert other.get(page % "x", FROM % 1).code == 200
    server.end()


def log_in_from(client, network, ms):
    client.send(b"GET /slowly?ms=%d HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n" % (ms, (FROM % network).encode()))
    time.sleep(0.05)


def test_the_next_is_of_the_network_that_was_served_longest_ago(start):
    server = start(password_threads=1, password_queue=30, trusted_proxies="127.0.0.1")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(5)]
        began = time.monotonic()
        for client, network in zip(clients, (1, 1, 1, 2, 3)):
            log_in_from(client, network, ms=400)
        assert [client.answer().code for client in clients[3:]] == [200, 200]
        assert time.monotonic() - began < 1.6, "they waited for those of a network that was served before"
        assert [client.answer().code for client in clients[:3]] == [200] * 3
    server.end()


def test_who_holds_most_places_loses_one_to_who_holds_none(start):
    server = start(password_threads=1, password_queue=7, trusted_proxies="127.0.0.1")  # one place for each address, four for its network
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(server.connect()) for _ in range(8)]
        for number, client in enumerate(crowd):
            client.send(b"GET /slowly?ms=500 HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.%d.%d\r\n\r\n" % (1 + number // 4, number))
            time.sleep(0.05)
        other = stack.enter_context(server.connect())
        log_in_from(other, 3, ms=10)
        displaced = crowd[3].answer()  # the last of the network that was served
        assert displaced.code == 429 and b"from your network" in displaced.body
        assert other.answer().code == 200
        assert [client.answer().code for client in crowd[:3] + crowd[4:]] == [200] * 7
    server.end()


def test_the_last_thread_is_for_networks_that_were_not_served_lately(start):
    server = start(password_threads=2, password_queue=30, trusted_proxies="127.0.0.1")
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in crowd:
            log_in_from(client, 1, ms=800)
        other = stack.enter_context(server.connect())
        began = time.monotonic()
        log_in_from(other, 2, ms=10)
        assert other.answer().code == 200
        assert time.monotonic() - began < 0.4, "it waited for somebody else's"
        assert [client.answer().code for client in crowd] == [200] * 3
    server.end()


def test_one_address_has_an_eighth_of_the_places_for_saves(start):
    server = start(web_threads=1, save_threads=8, save_queue=8, trusted_proxies="127.0.0.1")

    def save(client, ms, number):
        client.send((SAVE % ms).replace(b"\r\nContent", f"\r\n{FROM % number}\r\nContent".encode()))

    with contextlib.ExitStack() as stack:
        first, second, third, other = (stack.enter_context(server.connect()) for _ in range(4))
        save(first, 1500, 1)
        save(second, 1500, 1)
        time.sleep(0.3)
        save(third, 0, 1)
        refused = third.answer()
        assert refused.code == 429 and b"from your network address" in refused.body
        save(other, 0, 2)
        assert other.answer().code == 200
        assert [client.answer().code for client in (first, second)] == [200] * 2
        save(third, 0, 1)
        assert third.answer().code == 200, "the places are free again"
    server.end()


def test_a_page_that_many_wait_for_is_made_once(start):
    server = start(page_threads=1, page_queue=10)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(6)]
        for client in clients:
            client.send(b"GET /computed?ms=300&name=one HTTP/1.1\r\nHost: a\r\n\r\n")
        began = time.monotonic()
        assert len({client.answer().body for client in clients}) == 1
        assert time.monotonic() - began < 1.2, "it was made six times"
    server.end()


def test_who_is_not_admitted_takes_no_place_in_a_pool(start):
    server = start(web_threads=1, password_threads=1, password_queue=0)
    with server.connect() as slow, server.connect() as other:
        slow.send(ASK % 700)
        time.sleep(0.2)
        assert other.ask("POST", "/mine/slowly", ["Cookie: session=ann"], b"x").code == 429
        assert other.ask("POST", "/mine/slowly", ["Accept: application/json"], b"x").code == 401
        assert other.ask("POST", "/mine/slowly", ["Cookie: session=nobody"], b"x").code == 403
        assert slow.answer().body == b"slept\n"
    server.end()


def test_a_stop_finishes_saves_that_run_and_that_wait(start):
    server = start(save_threads=1, save_queue=4)
    with contextlib.ExitStack() as stack:
        saves = [stack.enter_context(server.connect()) for _ in range(3)]
        for client in saves:
            client.send(SAVE % 300)
        time.sleep(0.2)
        server.begin_stop()
        assert [client.answer().body for client in saves] == [b"slept\n"] * 3
    server.end()


def test_a_stop_waits_for_them(start):
    server = start(password_threads=1, password_queue=4)
    with server.connect() as one, server.connect() as two:
        one.send(ASK % 600)
        two.send(ASK % 600)
        time.sleep(0.2)
        server.begin_stop()
        assert one.answer().body == two.answer().body == b"slept\n"
        assert one.is_closed() and two.is_closed()
    server.end()


def test_a_stop_that_cuts_and_clients_that_go_away_leave_nothing_behind(start):
    server = start(stop_seconds=0, password_threads=2, password_queue=16)
    for _ in range(6):
        with server.connect() as gone:
            gone.send(ASK % 100)
    with server.connect() as last:
        last.send(ASK % 500)
        time.sleep(0.3)
        server.begin_stop()
        server.end()


def test_one_that_is_cut_while_it_runs_is_through_later(start):
    server = start(request_seconds=1, password_threads=1, password_queue=1)
    with server.connect() as client:
        client.send(ASK % 1800)
        assert client.is_closed()
    time.sleep(0.8)
    with server.connect() as client:
        assert client.get("/slowly?ms=1").code == 200
    server.end()


def test_many_at_once_on_kept_connections(start):
    server = start(web_threads=2, password_threads=4, password_queue=100)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(40)]
        for _ in range(5):
            for client in clients:
                client.send(ASK % 2)
            assert all(client.answer().body == b"slept\n" for client in clients)
    server.end()


def test_requests_that_can_be_are_done_together_and_each_has_its_own_answer(start):
    server = start(web_threads=1, save_threads=1, save_queue=20)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(8)]
        clients[0].send(TOGETHER % (500, 0, b"first"))  # alone; the others come meanwhile
        time.sleep(0.2)
        for number, client in enumerate(clients[1:], 1):
            client.send(TOGETHER % (10, {2: 1, 3: 2}.get(number, 0), b"%d" % number))
            time.sleep(0.01)  # in this order
        answers = [client.answer() for client in clients]
        assert answers[0].body == b"first of 1\n"
        assert answers[1].body == b"1 of 3\n", "one of four had failed before"
        assert answers[2].code == 400 and b"is one" in answers[2].body
        assert answers[3].code == 422 and b"is two" in answers[3].body
        assert answers[4].body == b"4 of 3\n"
        assert [answer.body for answer in answers[5:]] == [b"%d of 3\n" % number for number in (5, 6, 7)]
    server.end()


def test_what_cannot_be_done_together_keeps_its_place(start):
    server = start(web_threads=1, save_threads=1, save_queue=20)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(5)]
        clients[0].send(SAVE % 400)
        time.sleep(0.2)
        for client, words in zip(clients[1:], (TOGETHER % (0, 0, b"a"), SAVE % 0, TOGETHER % (0, 0, b"b"), TOGETHER % (0, 0, b"c"))):
            client.send(words)
            time.sleep(0.01)
        assert [client.answer().body for client in clients] == [b"slept\n", b"a of 1\n", b"slept\n", b"b of 2\n", b"c of 2\n"]
    server.end()


def test_many_together_on_kept_connections(start):
    server = start(web_threads=2, save_threads=3, save_queue=100)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(40)]
        for _ in range(20):
            for number, client in enumerate(clients):
                client.send(TOGETHER % (1, 0, b"%d" % number))
            for number, client in enumerate(clients):
                assert client.answer().body.startswith(b"%d of " % number)
    server.end()
