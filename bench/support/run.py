"""Scratch directories, children that end with the script, and programs that obey commands (see bench.h).

Whatever way a script ends (done, failed, interrupted, terminated), its children end and its scratch goes: it is all inside
`with Session() as session`. Children are ended by their own process id, never by name."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BENCH_BUILD", os.path.join(ROOT, "build", "bench"))
QUICK = os.environ.get("BENCH_QUICK", "0") == "1" or "--quick" in sys.argv[1:]


class Failure(Exception):
    """The benchmark cannot go on; the text is a sentence for a person."""


def say(text):
    """Progress, for the person who waits; the outcome alone goes to standard output."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def program(name):
    path = os.path.join(BUILD, "bench", name)
    if not os.access(path, os.X_OK):
        raise Failure(f"{path} is missing; build with -Dbench=true (./dev bench does)")
    return path


class Session:
    """A scratch directory and the children that were started, both gone at the end."""

    def __init__(self, name, free_bytes):
        parent = os.environ.get("OSTRAKA_SCRATCH", os.path.join(ROOT, "build", "bench-scratch"))
        self.directory = os.path.join(parent, f"{name}-{os.getpid()}")
        self.free_bytes = free_bytes
        self.children = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        os.makedirs(self.directory, mode=0o755)
        free = shutil.disk_usage(self.directory).free
        if free < self.free_bytes:
            os.rmdir(self.directory)
            raise Failure(f"{self.directory} has {free >> 30} GiB free, this needs {self.free_bytes >> 30}; "
                          "set OSTRAKA_SCRATCH to another place")
        return self

    def __exit__(self, *_):
        for child, how in reversed(self.children):
            end(child, how)
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, words, how=signal.SIGTERM, **options):
        """A child that gets the signal `how` at the end, and SIGKILL when it does not listen."""
        child = subprocess.Popen(words, **options)
        self.children.append((child, how))
        return child

    def obedient(self, words, **options):
        return Obedient(self.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options))


def end(child, how):
    if child.poll() is not None:
        return
    child.send_signal(how)
    try:
        child.wait(30)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class Obedient:
    """A program of ours that obeys `command number` and answers with a line of JSON."""

    def __init__(self, child):
        self.child = child

    def __call__(self, command, number=0):
        self.child.stdin.write(f"{command} {number}\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            raise Failure(f"{self.child.args[0]} ended during '{command}'")
        return json.loads(answer)

    def close(self):
        """The end of its input ends the program; it closes what it has open."""
        self.child.stdin.close()
        if self.child.wait(120) != 0:
            raise Failure(f"{self.child.args[0]} failed at its end")


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"{what} did not happen within {seconds} seconds")
        time.sleep(0.1)


def main(body):
    """Runs a script's body; a failure is one sentence and exit code 1."""
    try:
        body()
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
