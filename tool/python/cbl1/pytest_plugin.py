"""pytest: circular buffers of tests fit into L1.

    @pytest.mark.cbl1(budget="90%", strict=False)    captures the ttnn operations of the test and checks them
    pytest --cbl1                                    every test, once ttnn is imported
    def test_saved(cbl1_check): cbl1_check("run.json")

Fixtures run before the capture: their tensors are from before it.
"""
import hashlib
import os
import re
import sys
import tempfile

import pytest

import cbl1


def pytest_addoption(parser):
    group = parser.getgroup("cbl1")
    group.addoption("--cbl1", action="store_true", help="capture every test once ttnn is imported, and check that it fits into L1")
    group.addoption("--cbl1-budget", metavar="BUDGET", help="the most that a core may hold, as 90%% or bytes")
    group.addoption("--cbl1-dir", metavar="DIR", help="keep the captures of tests here")


def pytest_configure(config):
    config.addinivalue_line("markers", "cbl1(budget=None, strict=False): capture the test's ttnn operations and check that they fit into L1")


@pytest.hookimpl(trylast=True)  # when some are deselected
def pytest_collection_modifyitems(config, items):
    for item in items:
        for mark in item.iter_markers("cbl1"):
            if len(mark.args) > 2 or set(mark.kwargs) - {"budget", "strict"}:
                raise pytest.UsageError(f"{item.nodeid}: the mark is cbl1(budget=None, strict=False)")
    if not config.getoption("--cbl1-budget") or config.getoption("--cbl1") or not items:
        return
    if not any(item.get_closest_marker("cbl1") or "cbl1_check" in getattr(item, "fixturenames", ()) for item in items):
        raise pytest.UsageError("--cbl1-budget needs tests with @pytest.mark.cbl1, or --cbl1")


def _asked(item):
    """Returns the budget of a test, and whether it is strict: by its own mark, else that of its class or module."""
    asked = {"budget": item.config.getoption("--cbl1-budget"), "strict": False}
    for mark in reversed(list(item.iter_markers("cbl1"))):
        asked.update(mark.kwargs, **dict(zip(("budget", "strict"), mark.args)))
    return asked["budget"], asked["strict"]


def _verdict(run, budget, strict, **options):
    """Returns what is wrong, or None."""
    try:
        run.check(budget, strict, **options)
    except (cbl1.DoesNotFit, cbl1.CannotTell, cbl1.Error) as e:
        return str(e)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):  # of unittest too
    everyone = item.config.getoption("--cbl1") and "ttnn" in sys.modules
    if not everyone and not item.get_closest_marker("cbl1"):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="cbl1-") as temporary:  # ttnn may write more files beside the capture
        folder = item.config.getoption("--cbl1-dir") or temporary
        os.makedirs(folder, exist_ok=True)
        name, worker = item.nodeid, os.environ.get("PYTEST_XDIST_WORKER", "")  # each may run every test
        readable = re.sub(r"[^\w.-]+", "_", name)[-80:]
        path = os.path.join(folder, f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}{worker and '-' + worker}.json")
        capture = cbl1.capture(path)
        run = capture.__enter__()
        outcome = yield
        try:
            capture.__exit__(None, None, None)
            if not outcome.excinfo or not issubclass(outcome.excinfo[0], pytest.skip.Exception):
                item.cbl1_verdict = _verdict(run, *_asked(item))
        except Exception as e:  # one that leaves a wrapper ends the session with pluggy 1.0
            item.cbl1_verdict = f"the capture could not be written: {e}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Fails a test that passed, and adds a section to one that failed by itself."""
    report, text = (yield).get_result(), getattr(item, "cbl1_verdict", None)
    if report.when != "call" or report.skipped or not text:
        return
    if item.get_closest_marker("xfail") and (report.passed or str(report.longrepr).startswith("[XPASS(strict)]")):
        report.outcome, report.longrepr, report.wasxfail = "skipped", text, "cbl1"
    elif report.passed:
        report.outcome, report.longrepr = "failed", text
    else:
        report.sections.append(("cbl1", text))


@pytest.fixture
def cbl1_check(request):
    """Checks a saved capture, with the budget of the test, and returns the document of cbl1 check."""

    def check(path, **options):
        budget, strict = _asked(request.node)
        budget, strict = options.pop("budget", budget), options.pop("strict", strict)
        text = _verdict(cbl1.Run(path), budget, strict, **options)
        if text:
            pytest.fail(text, pytrace=False)
        return cbl1.check(path, budget=budget, **options)

    return check
