"""Running the workload on a disk that fails, is killed or loses power; used by the test_*.py beside it.

Without `./dev test --long` (OSTRAKA_LONG=1) the loops are short. OSTRAKA_SEED starts them elsewhere; a failure names what is
needed to see it again."""
import os
import pathlib
import random
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PLAIN = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", HERE.parents[1] / "build" / "plain")).resolve()
LIBRARY = PLAIN / "tests" / "fault" / "libfault.so"
WORKLOAD = PLAIN / "tests" / "fault" / "workload"
LONG = os.environ.get("OSTRAKA_LONG") == "1"
SEED = int(os.environ.get("OSTRAKA_SEED", random.SystemRandom().randrange(1_000_000)))
CUT = 137
HANG_SECONDS = 60


class Loop:
    """A data directory on a watched disk, and the record of every answer outside of it."""
    program = WORKLOAD

    def __init__(self, directory):
        self.top = directory.resolve()
        self.root = self.top / "root"
        self.acks = self.top / "acks"
        self.report_path = self.top / "report"
        self.runs = 0
        self.fresh()

    def fresh(self):
        """A new disk."""
        for path in (self.root, self.top / "fault-side", self.top / "restored"):
            shutil.rmtree(path, ignore_errors=True)
        self.root.mkdir(parents=True)
        self.acks.write_bytes(b"")
        self.report_path.unlink(missing_ok=True)

    def environment(self, faults):
        named = {"FAULT_" + name.upper(): str(value) for name, value in faults.items()}
        return {**os.environ, "LD_PRELOAD": str(LIBRARY), "FAULT_ROOT": str(self.root),
                "FAULT_REPORT": str(self.report_path), **named}

    def start(self, faults=None, **settings):
        """The next run. Versions carry its number, so that none is used twice on one directory."""
        self.runs += 1
        named = {"directory": self.root / "data", "acks": self.acks, "run": self.runs, **settings}
        return subprocess.Popen([self.program, "run", *(f"{name}={value}" for name, value in named.items())],
                                env=None if faults is None else self.environment(faults), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, faults=None, **settings):
        """Runs to the end; returns the exit code and what was printed. A hang is a code of its own."""
        process = self.start(faults, **settings)
        try:
            output, _ = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return "hang", process.communicate()[0]
        return process.returncode, output

    def command(self, name, **settings):
        result = subprocess.run([self.program, name, *(f"{key}={value}" for key, value in settings.items())], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANG_SECONDS)
        return result.returncode, result.stdout

    def check(self):
        """Everything that was acknowledged is there, nothing is half there."""
        return self.command("check", directory=self.root / "data", acks=self.acks)

    def check_backup(self):
        """If the backup was acknowledged, it restores, with all that was acknowledged before it."""
        before, acknowledged, _ = self.acks.read_text().partition("backup\n")
        if not acknowledged:
            return 0, "no backup"
        restored, acks = self.top / "restored", self.top / "acks-before-backup"
        acks.write_text(before)
        code, output = self.command("restore", directory=restored, backup=self.root / "backup")
        return (code, output) if code else self.command("check", directory=restored, acks=acks)

    def report(self):
        return dict(line.split(" ", 1) for line in self.report_path.read_text().splitlines())

    def acknowledged(self):
        return self.acks.read_text().count(" ok;")
