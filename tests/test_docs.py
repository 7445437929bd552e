"""The programs in docs/ run and print what they say.

A page is one program: its ``python`` blocks are executed, its ``pycon`` blocks are examples with
their output, in order and in one namespace.
"""

import doctest
import re
from pathlib import Path

import pytest
from children import of_the_allocator

DOCS = Path(__file__).resolve().parent.parent / "docs"
if not (DOCS / "conf.py").exists():
    pytest.skip("needs the source tree", allow_module_level=True)

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}


def run_page(name, text):
    names = {}
    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        language, code = block.groups()
        line = text.count("\n", 0, block.start(2))
        if language == "python":
            # Empty lines before it, so that errors name the page's own lines.
            exec(compile("\n" * line + code, name, "exec"), names)
            continue
        code = re.sub(r"\n\n(?!>>> |$)", "\n<BLANKLINE>\n", code)  # inside of what is printed
        test = doctest.DocTestParser().get_doctest(code, names, name, name, line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        report = []
        runner.run(test, out=report.append, clear_globs=False)
        assert runner.failures == 0, "".join(report)
        names.update(test.globs)  # which is a copy
    return len(blocks)


def page_of(name):
    return pytest.param(name, marks=of_the_allocator if "system_allocations" in PAGES[name] else ())


@pytest.mark.parametrize(
    "name", [page_of(name) for name, text in PAGES.items() if BLOCK.search(text)]
)
def test_page(name, tmp_path, monkeypatch):
    if "CSV" in PAGES[name]:
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)  # pages write files
    assert run_page(name, PAGES[name]) > 0


def test_pages_are_programs():
    names = [name for name, text in PAGES.items() if BLOCK.search(text)]
    assert {"tour.md", "autograd.md", "from-pytorch.md"} <= set(names)


def test_a_wrong_page_fails():
    with pytest.raises(AssertionError, match="Got:"):
        run_page("page", "```python\nx = 1\n```\n\n```pycon\n>>> x\n2\n```\n")
