"""A PostgreSQL cluster of our own in the scratch directory, tuned for the comparison, reached by a unix socket only."""
import os
import pwd
import signal
import subprocess

from . import run

BINARIES = "/usr/lib/postgresql/15/bin"

# Durable on acknowledgement, as ours is: fsync, full_page_writes and synchronous_commit stay on. The rest is what the
# manual advises for many small commits on one machine with memory to spare.
SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "100",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "2GB",
    "huge_pages": "try",
    "effective_cache_size": "8GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "512MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "wal_compression": "lz4",
    "wal_buffers": "64MB",
    "max_wal_size": "8GB",
    "min_wal_size": "2GB",
    "checkpoint_timeout": "30min",
    "checkpoint_completion_target": "0.9",
    "jit": "off",
    "autovacuum": "on",
    "log_checkpoints": "off",
    "logging_collector": "off",
}


def server_user():
    """PostgreSQL refuses to run as root: then as the user that Debian made for it. A direct child all the same: a program in
    between (su, runuser) would get the signals that are meant for the server, and leave it behind."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


class Cluster:
    """`settings` are beside or instead of those above."""

    def __init__(self, session, name="postgresql", **settings):
        self.directory = session.path(name)
        os.mkdir(self.directory, mode=0o700)
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        data = os.path.join(self.directory, "data")
        made = subprocess.run([f"{BINARIES}/initdb", "-D", data, "-A", "trust", "-U", self.user, "-E", "UTF8", "--locale=C"],
                              capture_output=True, text=True, check=False, cwd="/", **server_user())
        if made.returncode != 0:
            raise run.Failure("initdb failed (can the user postgres reach the scratch directory? OSTRAKA_SCRATCH names "
                              f"another): {made.stderr.strip()}")
        options = [word for name, value in {**SETTINGS, **settings}.items() for word in ("-c", f"{name}={value.strip(chr(39))}")]
        self.log = open(session.path(f"{name}.log"), "w", encoding="utf-8")
        # SIGINT is its fast shutdown.
        self.child = session.start([f"{BINARIES}/postgres", "-D", data, "-k", self.directory, *options],
                                   how=signal.SIGINT, stdout=self.log, stderr=self.log, cwd="/", **server_user())
        run.wait_until(self.ready, 30, "the start of PostgreSQL")
        self.pid = self.child.pid

    def ready(self):
        if self.child.poll() is not None:
            with open(self.log.name, encoding="utf-8") as log:
                raise run.Failure(f"PostgreSQL did not start: {log.read().strip()}")
        return subprocess.run([f"{BINARIES}/pg_isready", "-q", "-h", self.directory], check=False).returncode == 0

    def stop(self):
        """Before what is measured without it: its vacuum would go on beside that."""
        run.end(self.child, signal.SIGINT)

    def database(self, name):
        """A new one."""
        subprocess.run(["psql", "-q", "-h", self.directory, "-U", self.user, "-d", "postgres", "-c", f'CREATE DATABASE "{name}"'], check=True)
        return name

    def conninfo(self):
        return f"host={self.directory} user={self.user} dbname=postgres"
