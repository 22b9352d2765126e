"""node.py -- one node of the test cluster: its files, its process, and what it says about the others.

A process is known by its number and the moment it started, both kept in a file: a number alone may by now belong to
somebody else, and then nothing is done to it."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import asking
import settings


def process_state(pid, started):
    """The letter of /proc for this very process (T: stopped), or None when it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        threads = len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return None
    # The first thread is a zombie before the others have ended and given back their ports.
    ended = fields[0] in "ZX" and threads == 1
    return fields[0] if fields[19] == started and not ended else None


def started_at(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


class Node:
    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.home = cluster / f"node{number}"
        self.pid_file = self.home / "pid"
        self.address = settings.address(number)

    # --- its process -------------------------------------------------------------------------------------------------

    def identity(self):
        """(number, moment of its start) of the process that was started last, or None."""
        try:
            pid, started = self.pid_file.read_text().split()
            return int(pid), started
        except (OSError, ValueError):
            return None

    def state(self):
        """up, paused or down."""
        identity = self.identity()
        letter = identity and process_state(*identity)
        return "down" if not letter else "paused" if letter in "Tt" else "up"

    def signal(self, number):
        """False when the process has ended already."""
        identity = self.identity()
        if not identity or not process_state(*identity):
            return False
        os.kill(identity[0], number)
        return True

    def wait_for(self, state, seconds):
        deadline = time.monotonic() + seconds
        while self.state() != state:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def prepare(self):
        for folder in ("data", "log", "triggers"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        (self.home / "cassandra.yaml").write_text(settings.yaml(settings.node_settings(self.number)))

    def taken_port(self):
        """A port that it needs and another process has, or None."""
        for place in ((self.address, settings.CQL_PORT), (self.address, settings.GOSSIP_PORT),
                      ("127.0.0.1", settings.jmx_port(self.number))):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(place)
                except OSError:
                    return "%s:%d" % place
        return None

    def taken_port_for_long(self, seconds=5):
        """The same, after giving a process that has just ended the time to let go."""
        deadline = time.monotonic() + seconds
        while (place := self.taken_port()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return place

    def start(self, java):
        with open(self.home / "log/output", "ab") as output:
            # A session of its own: it outlives the terminal, and the test run that started it.
            process = subprocess.Popen(settings.node_command(java, self.cluster, self.number), cwd=self.home,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        self.pid_file.write_text(f"{process.pid} {started_at(process.pid)}\n")

    def kill(self):
        """As a crash would. True when it ended by this."""
        return self.signal(signal.SIGKILL) and self.wait_for("down", 10)

    def erase(self):
        shutil.rmtree(self.home, ignore_errors=True)

    # --- what it says ------------------------------------------------------------------------------------------------

    def last_words(self):
        """What its log ends with, for a person."""
        texts = [path.read_text(errors="replace").splitlines() for path in
                 (self.home / "log/system.log", self.home / "log/output") if path.exists()]
        return "\n".join(line for text in texts for line in text[-12:])

    def view(self):
        """The schema version of every node as this one sees it, by address; None when it does not answer."""
        try:
            own = asking.ask(self.address, settings.CQL_PORT, "SELECT rpc_address, schema_version FROM system.local")
            peers = asking.ask(self.address, settings.CQL_PORT, "SELECT peer, schema_version FROM system.peers_v2")
        except (OSError, ValueError, IndexError):
            return None
        return {socket.inet_ntoa(address): version for address, version in own + peers if version}
