"""tree.py -- reading the source tree: which files there are, and C text without its comments. Used by the checks."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
C_FOLDERS = ("src", "client", "tests", "fuzz", "bench")
# Made by a build or a run, or not ours to format.
NOT_OURS = {".git", "build", "data", "artefacts", "node_modules", "__pycache__", ".pytest_cache"}

# A comment, a string or a character: whichever begins first, so that each hides what looks like another inside it.
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def c_files(root, *folders):
    """The C sources and headers of the named folders (all that hold C when none is named), in byte order."""
    for folder in folders or C_FOLDERS:
        yield from sorted(path for path in (root / folder).glob("**/*.[ch]") if path.is_file())


def text_files(root):
    """Every file of the tree that is UTF-8 text, with its text."""
    for path in sorted(root.glob("**/*")):
        relative = path.relative_to(root)
        if path.is_symlink() or not path.is_file() or NOT_OURS & set(relative.parts[:-1]):
            continue
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def code_only(text):
    """C text with comments and the insides of strings blanked; lines and columns stay where they are."""

    def blank(match):
        token = match.group(0)
        inside = re.sub(r"[^\n]", " ", token)
        return token[0] + inside[1:-1] + token[-1] if token[0] in "\"'" else inside

    return C_TOKEN.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(findings, root):
    """Prints what was found, one line each, and gives the exit status."""
    for path, line, sentence in findings:
        print(f"{path.relative_to(root)}:{line}: {sentence}")
    return 1 if findings else 0
