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
    if not config.getoption("--cbl1-budget") or config.getoption("--cbl1") or not items:
        return
    if not any(item.get_closest_marker("cbl1") or "cbl1_check" in getattr(item, "fixturenames", ()) for item in items):
        raise pytest.UsageError("--cbl1-budget needs tests with @pytest.mark.cbl1, or --cbl1")


def _asked(item):
    """Returns the budget of a test, and whether it is strict."""
    marker = item.get_closest_marker("cbl1")
    asked = marker.kwargs if marker else {}
    return asked.get("budget") or item.config.getoption("--cbl1-budget"), asked.get("strict", False)


def _verdict(run, budget, strict, **options):
    """Returns what is wrong, or None."""
    try:
        run.check(budget, strict, **options)
    except (cbl1.DoesNotFit, cbl1.CannotTell, cbl1.Error) as e:
        return str(e)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    everyone = pyfuncitem.config.getoption("--cbl1") and "ttnn" in sys.modules
    if not everyone and not pyfuncitem.get_closest_marker("cbl1"):
        yield
        return
    folder, path = pyfuncitem.config.getoption("--cbl1-dir"), None
    if folder:
        os.makedirs(folder, exist_ok=True)
        name, worker = pyfuncitem.nodeid, os.environ.get("PYTEST_XDIST_WORKER", "")  # each may run every test
        readable = re.sub(r"[^\w.-]+", "_", name)[-80:]
        path = os.path.join(folder, f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}{worker and '-' + worker}.json")
    capture = cbl1.capture(path)
    run = capture.__enter__()
    outcome = yield
    try:
        capture.__exit__(None, None, None)
        if not outcome.excinfo or not issubclass(outcome.excinfo[0], pytest.skip.Exception):
            pyfuncitem.cbl1_verdict = _verdict(run, *_asked(pyfuncitem))
    except Exception as e:  # one that leaves a wrapper ends the session with pluggy 1.0
        pyfuncitem.cbl1_verdict = f"the capture could not be written: {e}"
    if not folder:
        os.unlink(run.path)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Fails a test that passed, and adds a section to one that failed by itself."""
    report, text = (yield).get_result(), getattr(item, "cbl1_verdict", None)
    if report.when != "call" or not text:
        return
    if report.passed:
        report.outcome, report.longrepr = "failed", text
    else:
        report.sections.append(("cbl1", text))


@pytest.fixture
def cbl1_check(request):
    """Checks a saved capture, with the budget of the test, and returns the document of cbl1 check."""

    def check(path, **options):
        budget, strict = _asked(request.node)
        text = _verdict(cbl1.Run(path), options.pop("budget", budget), options.pop("strict", strict), **options)
        if text:
            pytest.fail(text, pytrace=False)
        return cbl1.check(path, **options)

    return check
