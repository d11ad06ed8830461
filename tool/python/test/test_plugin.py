"""The plugin beside the command, in a pytest of its own: 7.2 with pluggy 1.0, or newer."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent

TESTS = """
import json, sys
import pytest
sys.path.insert(0, {here!r})
import standins

NODES = json.load(open({example!r}))
NODES = NODES["graph"] if isinstance(NODES, dict) else NODES

@pytest.fixture(autouse=True, params={releases})
def ttnn(request):
    return standins.install(request.param, NODES)

@pytest.mark.cbl1
def test_fits(): pass

@pytest.mark.cbl1(budget="10%")
def test_over(): pass

@pytest.mark.cbl1(budget="10%")
def test_own_error(): assert 1 == 2, "mine"

@pytest.mark.cbl1(budget="10%")
def test_skipped(): pytest.skip("not here")

@pytest.mark.cbl1(strict=True)
def test_hidden(ttnn):
    ttnn.graph.end_graph_capture, ttnn.graph.end_graph_capture_to_file = (lambda: ttnn.begun.pop() and []), None

def test_unmarked(ttnn): assert (ttnn.begun != []) == {everyone}

@pytest.mark.parametrize("name", ["a/b", "a_b"])
@pytest.mark.cbl1
def test_names(name): pass

def test_saved(cbl1_check): assert cbl1_check({example!r})["answer"] == "fits"

def test_saved_over(cbl1_check): cbl1_check({example!r}, budget=1000)

@pytest.mark.cbl1
def test_not_written(ttnn):
    def broken(*_): ttnn.begun.pop(); raise OSError("disk is full")
    ttnn.graph.end_graph_capture = ttnn.graph.end_graph_capture_to_file = broken
"""

MORE = """
import json, sys, unittest
import pytest
sys.path.insert(0, {here!r})
import standins

NODES = json.load(open({example!r}))
standins.install("wrapped", NODES["graph"] if isinstance(NODES, dict) else NODES)

@pytest.mark.cbl1(budget="10%")
class TestUnit(unittest.TestCase):
    def test_unit(self): pass
    def test_unit_skipped(self): self.skipTest("not here")

@pytest.mark.cbl1(budget="10%")
class TestClass:
    @pytest.mark.cbl1(strict=True)
    def test_inner(self): pass

@pytest.mark.cbl1("10%")
def test_positional(): pass

@pytest.mark.cbl1(budget=0)
def test_zero(): pass

@pytest.mark.xfail
@pytest.mark.cbl1("10%")
def test_known(): pass

@pytest.mark.xfail(strict=True)
@pytest.mark.cbl1("10%")
def test_known_strict(): pass

@pytest.mark.cbl1(budget="90%")
def test_document(cbl1_check): assert cbl1_check({example!r})["budget"]["text"] == "90%"
"""


class Plugin(unittest.TestCase):
    def setUp(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("needs pytest 7.2 or newer (package python3-pytest)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_pytest(self, *flags, everyone=False, releases=("list",), tests=TESTS, **environment):
        example = str(HERE.parents[2] / "examples" / "cached_ops.json")
        text = tests.format(here=str(HERE), example=example, releases=list(releases), everyone=everyone)
        (self.folder / "test_it.py").write_text(text)
        path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        r = subprocess.run([sys.executable, "-m", "pytest", "-p", "cbl1.pytest_plugin", "-p", "no:cacheprovider", "-rA", *flags],
                           cwd=self.folder, env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True)
        return r.stdout + r.stderr

    def outcomes(self, out):
        return {m[2]: m[1] for m in re.finditer(r"^(PASSED|FAILED|SKIPPED|ERROR) \[?.*?(test_\w+(?:\[[^\]]*\])?)(?: - .*)?$", out, re.M)}

    def test_verdicts(self):
        for release in ("list", "file", "wrapped"):
            out = self.run_pytest(releases=(release,))
            got = self.outcomes(out)
            want = {"fits": "PASSED", "over": "FAILED", "own_error": "FAILED", "hidden": "FAILED", "unmarked": "PASSED", "saved": "PASSED",
                    "saved_over": "FAILED", "not_written": "FAILED"}
            for name, outcome in want.items():
                self.assertEqual(outcome, got.get(f"test_{name}[{release}]"), f"{name}\n{out}")
            over = out[out.index(f"_ test_over[{release}] _"):]
            over = over[: over.index("\n____")]
            self.assertEqual(1, over.count("10% of"), over)  # the verdict, once, and no traceback
            self.assertNotIn("Traceback", over)
            own = out[out.index(f"_ test_own_error[{release}] _"):]
            own = own[: own.index("\n____")]
            self.assertIn("AssertionError: mine", own)
            self.assertIn("- cbl1 -", own)  # a section
            self.assertIn("disk is full", out)
            self.assertIn("1 skipped", out)

    def test_every_test(self):
        got = self.outcomes(self.run_pytest("--cbl1", "-k", "unmarked", everyone=True))
        self.assertEqual({"test_unmarked[list]": "PASSED"}, got)
        out = self.run_pytest("--cbl1", "--cbl1-budget", "10%", "-k", "unmarked", everyone=True)
        self.assertEqual({"test_unmarked[list]": "FAILED"}, self.outcomes(out))

    def test_a_budget_for_nobody(self):
        self.assertIn("--cbl1-budget needs tests with @pytest.mark.cbl1, or --cbl1", self.run_pytest("--cbl1-budget", "10%", "-k", "unmarked"))

    def test_marks(self):
        (self.folder / "temporary").mkdir()
        out = self.run_pytest(tests=MORE, TMPDIR=str(self.folder / "temporary"))
        for name, outcome in {"unit": "FAILED", "inner": "FAILED", "positional": "FAILED", "zero": "FAILED", "document": "PASSED"}.items():
            self.assertRegex(out, rf"(?m)^{outcome} .*test_{name}\b", out)
        self.assertIn("4 failed, 1 passed, 1 skipped, 2 xfailed", out)
        self.assertEqual([], list((self.folder / "temporary").glob("cbl1-*")))  # no sidecar either

    def test_wrong_mark(self):
        for wrong in ('bugdet="10%"', '"10%", True, 1'):
            out = self.run_pytest(tests=f"import pytest\n@pytest.mark.cbl1({wrong})\ndef test_it(): pass\n")
            self.assertIn("test_it: the mark is cbl1(budget=None, strict=False)", out)

    def test_kept_captures(self):
        self.run_pytest("--cbl1-dir", "kept", "-k", "names or fits")
        self.assertEqual(3, len(list((self.folder / "kept").iterdir())))
        for worker in ("gw0", "gw1"):  # of xdist, with --dist each
            self.run_pytest("--cbl1-dir", "kept", "-k", "names or fits", PYTEST_XDIST_WORKER=worker)
        self.assertEqual(9, len(list((self.folder / "kept").iterdir())))


if __name__ == "__main__":
    unittest.main()
