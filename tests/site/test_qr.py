"""The QR codes of our pages, read by zbarimg."""
import os
import pathlib
import random
import re
import subprocess
import xml.etree.ElementTree

import pytest

PRINT = pathlib.Path(os.environ["OSTRAKA_BUILD"]) / "tests/site/qr_print"
MAX = 666  # qr.h
SCALE = 4  # pixels a module


def read(picture, path):
    path.write_bytes(picture)
    answer = subprocess.run(["zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", str(path)],
                            capture_output=True, timeout=60, check=True)
    return answer.stdout.removesuffix(b"\n")


def drawn(text):
    """The path of the SVG as a PBM; it is nothing but rectangles that are one module high."""
    svg = xml.etree.ElementTree.fromstring(
        subprocess.run([str(PRINT)], input=text, capture_output=True, timeout=60, check=True).stdout)
    assert svg.get("aria-label") == 'a "code"'
    whole = int(svg.get("viewBox").split()[2])
    rows = [["0"] * whole for _ in range(whole)]
    light, dark = (path.get("d") for path in svg)
    assert light == f"M0 0h{whole}v{whole}H0z"
    run = r"M(\d+) (\d+)h(\d+)v1h-(\d+)z"
    assert re.fullmatch(f"({run})+", dark)
    for x, y, width, back in (map(int, parts) for parts in re.findall(run, dark)):
        assert width == back
        rows[y][x:x + width] = ["1"] * width
    lines = ["".join(module * SCALE for module in row) for row in rows for _ in range(SCALE)]
    return "\n".join(["P1", f"{whole * SCALE} {whole * SCALE}", *lines, ""]).encode()


# Each version from 1 to 20 (level M) once full and once a byte over the one before.
ROOM = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666]


@pytest.mark.parametrize("version", range(1, 21))
def test_each_version_is_read_as_it_was_written(tmp_path, version):
    luck = random.Random(version)
    for size in {ROOM[version - 1], (ROOM[version - 2] if version > 1 else 0) + 1}:
        text = bytes(luck.choice(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/?&=%-_.~") for _ in range(size))
        picture = drawn(text)
        assert int(picture.split()[1]) == (17 + 4 * version + 8) * SCALE, "the smallest version that holds it"
        assert read(picture, tmp_path / "code.pbm") == text


@pytest.mark.parametrize("size", [0, MAX + 1])
def test_what_is_empty_or_too_long_is_refused(size):
    assert subprocess.run([str(PRINT)], input=b"x" * size, capture_output=True, timeout=60).returncode == 1
