"""The site's key: made at the first start, beside the data directory, and asked for ever after."""
import json
import os
import re
import shutil
import stat

import pytest

from conftest import ostraka


@pytest.fixture
def site(tmp_path):
    """A data directory with one account."""
    data = tmp_path / "data"
    done = ostraka("user", "add", "alice", "--email", "alice@example.org", "--confirmed", "--data", str(data))
    assert done.returncode == 0, done.stderr
    return data


def show(data, *flags):
    return ostraka("user", "show", "alice", "--json", "--data", str(data), *flags)


def test_a_key_is_made_once_and_is_private(site):
    key = site.with_suffix(".key")
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    before = key.read_text()
    assert re.fullmatch(r"ostraka-key-1 [0-9a-f]{64}\n", before)
    assert json.loads(show(site).stdout)["email"] == "alice@example.org"
    assert key.read_text() == before
    assert not any(b"example.org" in path.read_bytes() for path in (site / "db").iterdir())


def test_the_setting_names_another_file_and_a_slash_at_the_end_does_not_matter(tmp_path):
    data, key = tmp_path / "data", tmp_path / "secret"
    words = ("user", "add", "alice", "--email", "alice@example.org", "--confirmed", "--data", str(data) + "/")
    assert ostraka(*words, "--key-file", str(key)).returncode == 0
    assert key.exists() and not (tmp_path / "data.key").exists()
    assert show(data, "--key-file", str(key)).returncode == 0
    shutil.copy(key, tmp_path / "data.key")
    assert show(str(data) + "/").returncode == 0


def test_a_missing_key_is_named_and_not_replaced(site):
    key = site.with_suffix(".key")
    key.rename(site.with_suffix(".away"))
    done = show(site)
    assert done.returncode == 1 and str(key) in done.stderr and "--key-file" in done.stderr
    assert done.stderr.count("\n") == 1 and not key.exists()
    assert show(site, "--key-file", str(site.with_suffix(".away"))).returncode == 0


def test_a_foreign_key_is_noticed_at_the_start(site, tmp_path):
    assert ostraka("user", "add", "bob", "--email", "bob@example.org", "--data", str(tmp_path / "other")).returncode == 0
    shutil.copy(tmp_path / "other.key", site.with_suffix(".key"))
    for command in (["user", "list"], ["serve", "--listen", "127.0.0.1:0"]):
        done = ostraka(*command, "--data", str(site))
        assert done.returncode == 1 and re.search(r"needs key [0-9a-f]{16}", done.stderr), done.stderr


@pytest.mark.parametrize("spoil, says", [
    (lambda key: key.chmod(0o640), "chmod 600"),
    (lambda key: key.write_text("ostraka-key-1 0\n"), "not a key file"),
    (lambda key: key.write_bytes(os.urandom(5000)), "not a key file"),
    (lambda key: key.write_bytes(b""), "not a key file"),
])
def test_a_key_that_is_damaged_or_open_to_others_is_refused(site, spoil, says):
    spoil(site.with_suffix(".key"))
    done = show(site)
    assert done.returncode == 1 and says in done.stderr and str(site.with_suffix(".key")) in done.stderr


def test_a_key_from_a_start_that_was_cut_off_is_taken(site, tmp_path):
    """The file is made first, then the store is told: in between there is a key and new data."""
    shutil.copy(site.with_suffix(".key"), tmp_path / "new.key")
    done = ostraka("user", "add", "bob", "--email", "bob@example.org", "--data", str(tmp_path / "new"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new.key").read_text() == site.with_suffix(".key").read_text()


def test_a_backup_leaves_the_key_out_and_both_sides_say_so(site, tmp_path):
    done = ostraka("backup", str(tmp_path / "copy"), "--data", str(site))
    assert done.returncode == 0 and str(site.with_suffix(".key")) in done.stdout
    secret = site.with_suffix(".key").read_text().split()[1]
    for path in (tmp_path / "copy").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    done = ostraka("restore", str(tmp_path / "copy"), "--data", str(tmp_path / "new"))
    assert done.returncode == 0 and str(tmp_path / "new.key") in done.stdout and not (tmp_path / "new.key").exists()
    needed = re.search(r"key ([0-9a-f]{16}) ", done.stdout).group(1)
    assert needed in show(tmp_path / "new").stderr
    shutil.copy(site.with_suffix(".key"), tmp_path / "new.key")
    assert json.loads(show(tmp_path / "new").stdout)["email"] == "alice@example.org"
