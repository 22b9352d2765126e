"""The client library as it is installed: what a program finds by pkg-config, what the library needs, what its manual says."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import PLAIN, ROOT, clean_environment

BUILD = pathlib.Path(os.environ.get("OSTRAKA_PLAIN", ROOT / "build/plain")).resolve()
FUNCTION = re.compile(r"\b(ostraka_journal_\w+)")


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=60, **options).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Where everything stands as if it were the root of a machine."""
    root = tmp_path_factory.mktemp("root")
    # As a distribution's package is made: never into the machine, whatever the caller has set.
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root)
    return root


def only(root, pattern):
    found = sorted(root.rglob(pattern))
    assert found, f"{pattern} was not installed"
    return found[0]


def flags(root):
    directory = only(root, "ostraka-journal.pc").parent
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(directory), "PKG_CONFIG_PATH": "", "PKG_CONFIG_SYSROOT_DIR": str(root)}
    return run("pkg-config", "--cflags", "--libs", "ostraka-journal", env=environment).split()


@pytest.fixture
def journal(tmp_path):
    """A listener of its own on a unix socket; its address."""
    path = tmp_path / "socket"
    process = subprocess.Popen([PLAIN, "journal", "serve", "-b", str(tmp_path / "journal"), "-l", f"unix:{path}"],
                               env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = process.stdout.readline()
    assert "Journals are at" in line, line
    yield f"unix:{path}"
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    process.stdout.close()


def test_the_example_is_built_by_what_is_installed_and_works(installed, journal, tmp_path):
    program = tmp_path / "example"
    source = only(installed, "example.c")
    run(os.environ.get("CC", "cc"), "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags(installed))
    environment = {**clean_environment(), "LD_LIBRARY_PATH": str(only(installed, "libostraka-journal.so").parent)}
    assert "libostraka-journal.so" in run("readelf", "-d", program)
    first = run(program, journal, "put", "default", "a", "old", env=environment)
    assert first == run(program, journal, "put", "default", "a", "new", env=environment), "the same key is the same entry"
    second = run(program, journal, "put", "default", "", "other", env=environment)
    worker = subprocess.Popen([program, journal, "work", "default"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout.readline() == f"{first.strip()} new\n"
        assert worker.stdout.readline() == f"{second.strip()} other\n"
    finally:
        worker.terminate()
        worker.wait(20)
        worker.stdout.close()
    wrong = subprocess.run([program, journal, "put", "no,name", "", "x"], env=environment, capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1 and wrong.stderr.startswith("put: INVALID: "), wrong.stderr


def test_the_library_needs_libc_only(installed):
    dynamic = run("readelf", "-d", only(installed, "libostraka-journal.so"))
    assert re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) == ["libc.so.6"]
    assert re.findall(r"\(SONAME\).*\[(.*)\]", dynamic) == ["libostraka-journal.so.0"]


def test_the_library_shows_its_functions_and_nothing_else(installed):
    header = only(installed, "ostraka-journal.h").read_text()
    symbols = run("nm", "-D", "--defined-only", only(installed, "libostraka-journal.so"))
    assert {line.split()[2] for line in symbols.splitlines()} == set(FUNCTION.findall(header))


def test_manual_and_header_name_the_same(installed):
    page, header = only(installed, "ostraka-journal.3").read_text(), only(installed, "ostraka-journal.h").read_text()
    functions = set(FUNCTION.findall(header))
    name, synopsis, description = (part.split(".SH ")[0] for part in re.split(r"\.SH (?:NAME|SYNOPSIS|DESCRIPTION)\n", page)[1:])
    assert functions == set(FUNCTION.findall(name))
    assert functions == set(FUNCTION.findall(synopsis))
    assert functions == set(FUNCTION.findall(description))
    for enum in ("OstrakaJournalStatus", "OstrakaJournalOutcome"):
        members = re.search(rf"typedef enum {enum} {{(.*?)}} {enum};", header, re.DOTALL)[1]
        assert not [word for word in re.findall(r"^ +(OSTRAKA_JOURNAL_\w+)", members, re.MULTILINE) if word not in page]
    for struct in re.findall(r"typedef struct \w+ {(.*?)} \w+;", header, re.DOTALL):
        for line in re.sub(r"/\*.*?\*/", "", struct, flags=re.DOTALL).split(";"):
            for member in re.findall(r"\*?(\w+)(?:\[[^]]*\])?\s*(?:,|$)", line.strip()):
                assert re.search(rf"\b{member}\b", page), f"{member} is not in the manual"


@pytest.mark.skipif(shutil.which("mandoc") is None and shutil.which("groff") is None, reason="neither mandoc nor groff")
def test_the_manual_is_well_formed(installed):
    page = only(installed, "ostraka-journal.3")
    if shutil.which("mandoc"):
        run("mandoc", "-T", "lint", "-W", "warning", page)
    else:
        done = subprocess.run(["groff", "-man", "-ww", "-z", page], check=True, capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
