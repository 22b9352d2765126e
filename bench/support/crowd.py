"""A crowd on one port: clients that keep a connection open and idle, and clients that send one byte a second.

    crowd.py PORT IDLE DRIBBLERS
Obeys two commands, one a line, and answers with a line of JSON: `open` makes the connections (an idle one has asked for
/page once; half of the dribblers dribble a head, half a body), `report` says how many are left and when the dribblers were cut."""
import json
import resource
import select
import socket
import sys
import time

HEAD = b"GET /page HTTP/1.1\r\nHost: bench\r\nX-Slow: " + b"a" * 4000
BODY_HEAD = b"POST /body HTTP/1.1\r\nHost: bench\r\nContent-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n"
SLICES = 20  # of a second, so that the dribblers do not all speak at once


class Crowd:
    def __init__(self, port, idle, dribblers):
        self.port, self.idle_count, self.dribbler_count = port, idle, dribblers
        self.idle, self.dribblers = {}, {}  # by file descriptor; a dribbler is [socket, first byte, body?, sent]
        self.cuts = []
        self.poll = select.epoll()
        self.slice = 0

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def open(self):
        for _ in range(self.idle_count):
            connection = self.connect()
            connection.sendall(b"GET /page HTTP/1.1\r\nHost: bench\r\n\r\n")
            answer = b""
            while len(answer) < 4096 or not answer.endswith(b"\n"):
                more = connection.recv(65536)
                if not more:
                    raise SystemExit("crowd: an idle client was cut while it asked")
                answer += more
            self.watch(connection, self.idle, connection)
        for i in range(self.dribbler_count):
            connection = self.connect()
            if i % 2:
                connection.sendall(BODY_HEAD)
            self.watch(connection, self.dribblers, [connection, time.monotonic() if i % 2 else None, bool(i % 2), 0])
        return self.report()

    def watch(self, connection, place, entry):
        connection.setblocking(False)
        place[connection.fileno()] = entry
        self.poll.register(connection, select.EPOLLIN | select.EPOLLRDHUP)

    def report(self):
        return {"idle": len(self.idle), "dribbling": len(self.dribblers), "cut": len(self.cuts),
                "first_cut_s": min(self.cuts, default=0), "last_cut_s": max(self.cuts, default=0)}

    def dribble(self):
        """A byte from every dribbler whose turn it is."""
        self.slice = (self.slice + 1) % SLICES
        for fd in [fd for fd in self.dribblers if fd % SLICES == self.slice]:
            entry = self.dribblers[fd]
            try:
                entry[0].send(b"a" if entry[2] else HEAD[entry[3]:entry[3] + 1])
                entry[1] = entry[1] or time.monotonic()
                entry[3] += 1
            except OSError:
                self.gone(fd)

    def gone(self, fd):
        """The server closed it, or answered: for a dribbler both are the end."""
        entry = self.dribblers.pop(fd, None)
        if entry:
            self.cuts.append(time.monotonic() - (entry[1] or time.monotonic()))
        connection = entry[0] if entry else self.idle.pop(fd)
        self.poll.unregister(fd)
        connection.close()

    def run(self):
        self.poll.register(sys.stdin, select.EPOLLIN)
        next_slice = time.monotonic()
        while True:
            for fd, _ in self.poll.poll(max(0, next_slice - time.monotonic())):
                if fd != sys.stdin.fileno():
                    self.gone(fd)
                    continue
                command = sys.stdin.buffer.raw.readline().split()
                if not command:
                    return
                answer = {b"open": self.open, b"report": self.report}[command[0]]()
                print(json.dumps(answer), flush=True)
            if time.monotonic() >= next_slice:
                self.dribble()
                next_slice += 1 / SLICES


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    Crowd(*(int(word) for word in sys.argv[1:4])).run()
