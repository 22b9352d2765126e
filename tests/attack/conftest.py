"""What the parts share: the last line, the list of findings, a mail server, and sites that must end without a report."""
import pathlib

import pytest
from attacked_site import ROOT, Post, Site

FINDINGS = ROOT / "build/attack/findings.txt"
CASES = set()


def pytest_configure(config):
    FINDINGS.parent.mkdir(parents=True, exist_ok=True)
    FINDINGS.write_text("")


def pytest_runtest_logreport(report):
    """A case is what it calls; what goes wrong around it (a site that ends with a report) is a finding, too."""
    if not report.skipped:
        CASES.add(report.nodeid)
    if report.failed:
        reason = str(getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr)).splitlines()
        with FINDINGS.open("a") as out:
            out.write(f"{report.nodeid.removeprefix('tests/attack/')} ({report.when}): {' '.join(reason)[:600]}\n")


def pytest_unconfigure(config):
    """The last line."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    count = {kind: len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")}
    findings = count["failed"] + count["error"]
    print()
    for line in FINDINGS.read_text().splitlines():
        print(f"finding: {line}")
    if count["skipped"]:
        print(f"{count['skipped']} cases were left out: there is no network of their own here")
    print(f"attack: {len(CASES)} cases, {findings} findings")


@pytest.fixture(scope="module")
def post():
    post = Post()
    yield post
    post.shutdown()
    post.server_close()


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """begin(*flags, …) starts a site for the cases of a file."""
    sites = []

    def start(*flags, **options):
        sites.append(Site(pathlib.Path(tmp_path_factory.mktemp("attack")), *flags, **options))
        return sites[-1]

    yield start
    wrong = []
    for site in sites:
        try:
            site.stop()
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)
