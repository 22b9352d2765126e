"""What the parts share: the list of findings, a mail server, and sites that must end without a report."""
import json
import os
import pathlib

import pytest
from attacked_site import Post, Site

CASES, FINDINGS, LEFT_OUT = set(), [], set()


def pytest_runtest_logreport(report):
    """A case is what it calls; what goes wrong around it (a site that ends with a report) is a finding, too."""
    (LEFT_OUT if report.skipped else CASES).add(report.nodeid)
    if report.failed:
        reason = str(getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr))
        FINDINGS.append(f"{report.nodeid.removeprefix('tests/attack/')} ({report.when}): {' '.join(reason.split())[:600]}")


def pytest_unconfigure(config):
    """For run.py, which adds up."""
    pathlib.Path(os.environ["ATTACK_RESULT"]).write_text(
        json.dumps({"cases": len(CASES), "findings": FINDINGS, "left_out": len(LEFT_OUT - CASES)}))


@pytest.fixture(scope="module")
def post():
    post = Post()
    yield post
    post.shutdown()
    post.server_close()


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    """A declaration of journals: for everybody, for admins, and one with odd characters in its name."""
    file = tmp_path_factory.mktemp("declared") / "journals"
    file.write_text("[journal open]\nput = any\nclaim = any\nmax_data = 1M\n[journal work]\n[journal A+/;.$_(9)]\nput = any\nclaim = any\n"
                    "[journal local]\nput = local\nclaim = local\n[tubes]\nput = local\nclaim = local\nmax_data = 1M\n")
    return str(file)


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
