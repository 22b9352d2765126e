"""Our QR codes, read by a reader that is not ours (zbarimg)."""
import os
import pathlib
import random
import subprocess

import pytest

PRINT = pathlib.Path(os.environ["OSTRAKA_BUILD"]) / "tests/site/qr_print"
MOST = 666  # qr.h


def read(picture, path):
    path.write_bytes(picture)
    answer = subprocess.run(["zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", str(path)],
                            capture_output=True, timeout=60, check=True)
    return answer.stdout.removesuffix(b"\n")


def drawn(text):
    return subprocess.run([str(PRINT)], input=text, capture_output=True, timeout=60, check=True).stdout


# Each version from 1 to 20 (level M) once full and once a byte over the one before.
ROOM = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666]


@pytest.mark.parametrize("version", range(1, 21))
def test_each_version_is_read_as_it_was_written(tmp_path, version):
    luck = random.Random(version)
    for size in {ROOM[version - 1], (ROOM[version - 2] if version > 1 else 0) + 1}:
        text = bytes(luck.choice(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/?&=%-_.~") for _ in range(size))
        picture = drawn(text)
        assert int(picture.split()[1]) == (17 + 4 * version + 8) * 4, "the smallest version that holds it"
        assert read(picture, tmp_path / "code.pbm") == text


def test_what_is_too_long_is_refused():
    assert subprocess.run([str(PRINT)], input=b"x" * (MOST + 1), capture_output=True, timeout=60).returncode == 1
