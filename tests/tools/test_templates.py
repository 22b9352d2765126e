"""The template compiler: every place a value can stand has its writer, and every place it may not is refused."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compiled(tmp_path, text):
    page = tmp_path / "page.html"
    page.write_text(text)
    run = subprocess.run([sys.executable, str(ROOT / "tools/templates.py"), str(tmp_path / "pages.c"),
                          str(tmp_path / "pages.h"), str(page)], capture_output=True, text=True)
    return run, (tmp_path / "pages.c").read_text() if run.returncode == 0 else ""


def body(tmp_path, markup):
    run, source = compiled(tmp_path, f"%template void page(Buffer *out, int x)\n{markup}\n%end\n")
    assert run.returncode == 0, run.stderr
    return source


@pytest.mark.parametrize("markup, writer", [
    ("<p>{{ x }}</p>", "html_put(out, x);"),
    ('<p id="{{ x }}">', "attribute_put(out, x);"),
    ('<a href="{{ x }}">', "url_put(out, x);"),
    ('<a href="/a/{{ x }}">', "url_part_put(out, x);"),
    ('<form action="{{ x }}">', "url_put(out, x);"),
    ('<img src="{{ x }}">', "url_put(out, x);"),
    ("<p>{% if (x) { %}{{ x }}{% } %}</p>", "html_put(out, x);"),
])
def test_a_value_is_written_for_its_place(tmp_path, markup, writer):
    assert writer in body(tmp_path, markup)


@pytest.mark.parametrize("markup, fault", [
    ("<p {{ x }}>", "outside of double quotes"),
    ("<p id={{ x }}>", "outside of double quotes"),
    ("<p id='{{ x }}'>", "double quotes"),
    ("<{{ x }}>", "outside of double quotes"),
    ("<script>{{ x }}</script>", "no value may stand in <script>"),
    ("<style>{{ x }}</style>", "no value may stand in <style>"),
    ('<p onclick="{{ x }}">', "no value may stand in onclick"),
    ('<p style="{{ x }}">', "no value may stand in style"),
    ("<p", "ends inside a tag"),
])
def test_a_value_that_could_become_markup_is_refused_with_its_line(tmp_path, markup, fault):
    run, _ = compiled(tmp_path, f"%template void page(Buffer *out, int x)\n{markup}\n%end\n")
    assert run.returncode != 0
    assert fault in run.stderr
    assert "page.html:" in run.stderr


@pytest.mark.parametrize("text, fault", [
    ("hello\n", "text outside of a template"),
    ("%template void a(Buffer *out)\n%template void b(Buffer *out)\n%end\n", "inside a template"),
    ("%end\n", "%end without %template"),
    ("%template void a(Buffer *out)\n<p>\n", "no %end"),
])
def test_a_file_that_is_not_whole_is_refused(tmp_path, text, fault):
    run, _ = compiled(tmp_path, text)
    assert run.returncode != 0
    assert fault in run.stderr


def test_comments_are_no_part_of_the_page_and_literals_are_quoted(tmp_path):
    source = body(tmp_path, '{# secret\nnote #}<p class="a\\b">"hi"</p>')
    assert "secret" not in source
    assert r'\"a\\b\"' in source
