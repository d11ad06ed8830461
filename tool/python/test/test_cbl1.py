"""The module cbl1 beside the command. go test ./tool/cmd/cbl1 -run TestPython runs this, and puts cbl1 into PATH."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent)]
import cbl1
import standins

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "cached_ops.json"
NODES = json.loads(EXAMPLE.read_text())
NODES = NODES["graph"] if isinstance(NODES, dict) else NODES


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Answers(Case):
    def test_a_path(self):
        d = cbl1.check(EXAMPLE)
        self.assertEqual(("fits", 87), (d["answer"], d["runs"]))
        self.assertEqual(81, cbl1.report(str(EXAMPLE))["devices"]["0"]["programs"])

    def test_nodes_in_memory(self):
        path = self.folder / "stdin"
        path.write_text(json.dumps(NODES))
        for verb in (cbl1.check, cbl1.peak, cbl1.report, cbl1.room):
            want, got = verb(path), verb(NODES)
            want["file"] = got["file"]
            self.assertEqual(want, got)

    def test_two_captures(self):
        self.assertTrue(cbl1.diff(EXAMPLE, EXAMPLE)["equal"])
        self.assertTrue(cbl1.diff(NODES, NODES)["equal"])
        self.assertFalse(cbl1.diff(NODES, NODES[:-200])["equal"])

    def test_each(self):
        (self.folder / "a.json").write_text(json.dumps(NODES))
        (self.folder / "b.json").write_text(json.dumps(NODES))
        self.assertEqual(["fits"] * 3, [d["answer"] for d in cbl1.each("check", self.folder, EXAMPLE)])
        with self.assertRaisesRegex(cbl1.Error, "2 captures, where one is wanted: use each"):
            cbl1.check(self.folder)
        (self.folder / "broken.json").write_text("[{]")
        with self.assertRaisesRegex(cbl1.Error, "broken.json"):
            list(cbl1.each("check", os.fsencode(self.folder)))
        with mock.patch.dict(os.environ, CBL1="/nowhere/cbl1"), self.assertRaisesRegex(cbl1.Error, "cannot be started"):
            cbl1.check(EXAMPLE)

    def test_partly_read(self):
        (self.folder / "a.json").write_text(json.dumps(NODES))
        (self.folder / "broken.json").write_text("[{]")
        documents = cbl1.each("check", self.folder)
        self.assertEqual("fits", next(documents)["answer"])
        with self.assertRaisesRegex(cbl1.Error, "broken.json"):
            next(documents)

    def test_options(self):
        self.assertEqual("does_not_fit", cbl1.check(EXAMPLE, budget="10%", verbose=True, device=None, strict_=False)["answer"])
        self.assertTrue(cbl1.who(EXAMPLE, 103712, device=0))
        self.assertEqual(cbl1.check(EXAMPLE), cbl1.check(EXAMPLE, accept=["cache-hit", "not-shown"]) | {"accepted": []})

    def test_a_name_like_an_option(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        pathlib.Path("-x.json").write_text(json.dumps(NODES))
        self.assertEqual("fits", cbl1.check("-x.json")["answer"])

    def test_text(self):
        self.assertIn("87 runs", cbl1.text("check", EXAMPLE))
        self.assertIn("87 runs", cbl1.text("check", NODES))

    def test_errors(self):
        broken = self.folder / "x.json"
        broken.write_text("[{")
        with self.assertRaisesRegex(cbl1.Error, "x.json"):
            cbl1.check(broken)
        with self.assertRaisesRegex(cbl1.Error, "no-such-option"):
            cbl1.check(EXAMPLE, no_such_option=1)

    def test_the_command(self):
        for flags, code in ((["check", str(EXAMPLE)], 0), (["check", "--budget", "10%", str(EXAMPLE)], 1), (["check", "none"], 2)):
            r = subprocess.run([sys.executable, "-m", "cbl1", *flags], cwd=pathlib.Path(cbl1.__file__).parents[1], capture_output=True)
            self.assertEqual(code, r.returncode, r.stderr)

    def test_no_command(self):
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        os.environ["CBL1"] = "elsewhere"
        self.assertEqual("elsewhere", cbl1.binary())
        del os.environ["CBL1"]
        os.environ["PATH"] = str(self.folder)
        with self.assertRaisesRegex(cbl1.Error, "not installed"):
            cbl1.binary()


class Captures(Case):
    def each_release(self, nodes=NODES):
        for release in ("list", "file", "wrapped"):
            with self.subTest(release):
                yield standins.install(release, nodes), self.folder / f"{release}.json"

    def test_a_capture(self):
        for ttnn, path in self.each_release():
            with cbl1.capture(path) as run:
                self.assertEqual(["normal"], ttnn.begun)
            self.assertEqual([], ttnn.begun)
            self.assertEqual("fits", run.check("90%")["answer"])
            with self.assertRaises(cbl1.DoesNotFit) as e:
                run.check("10%")
            self.assertEqual(cbl1.text("check", path, budget="10%").rstrip(), str(e.exception))

    def test_a_file_of_its_own(self):
        for _, _ in self.each_release():
            with cbl1.capture() as run:
                pass
            self.addCleanup(os.unlink, run.path)
            self.assertEqual("fits", run.check()["answer"])

    def test_a_notebook(self):
        page = cbl1.Run(EXAMPLE)._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'), page[:100])
        self.assertEqual(2, page.count("<"), "nothing of the page leaves the frame")

    def test_a_body_that_throws(self):
        for ttnn, path in self.each_release():
            with self.assertRaisesRegex(RuntimeError, "TT_THROW"):
                with cbl1.capture(path):
                    raise RuntimeError("TT_THROW")
            self.assertEqual([], ttnn.begun)
            self.assertEqual("fits", cbl1.check(path)["answer"])

    def test_a_capture_of_another_thread_is_empty(self):
        for _, path in self.each_release([]):
            with cbl1.capture(path) as run:
                pass
            self.assertEqual("cannot_tell", run.check()["answer"])
            with self.assertRaises(cbl1.CannotTell):
                run.check(strict=True)

    def test_no_dispatch(self):
        planned = [dict(n, params=dict(n["params"], address="0")) if n["node_type"] == "circular_buffer_allocate" else n for n in NODES]
        for ttnn, path in self.each_release(planned):
            device = standins.Device()
            with cbl1.capture(path, dispatch=False, device=device) as run:
                self.assertEqual((["no dispatch"], 0), (ttnn.begun, device.cleared))
            self.assertEqual((1, False), (device.cleared, run.dispatched))

    def test_no_dispatch_needs_the_device(self):
        for ttnn, path in self.each_release():
            with self.assertRaisesRegex(ValueError, "needs the device"):
                with cbl1.capture(path, dispatch=False):
                    self.fail("it ran")
            self.assertEqual([], ttnn.begun)

    def test_no_dispatch_inside_another_capture_runs(self):
        for ttnn, path in self.each_release():
            with cbl1.capture(self.folder / "outer.json"):
                with cbl1.capture(path, dispatch=False, device=standins.Device()) as run:
                    self.assertEqual(["normal", "no dispatch"], ttnn.begun)
            self.assertTrue(run.dispatched)
            self.assertIn("inside another capture", repr(run))

    def test_the_cache_is_cleared_whatever_happens(self):
        for _, path in self.each_release():
            device = standins.Device()
            with self.assertRaisesRegex(RuntimeError, "TT_THROW"):
                with cbl1.capture(path, dispatch=False, device=device):
                    raise RuntimeError("TT_THROW")
            self.assertEqual(1, device.cleared)
            with self.assertRaisesRegex(RuntimeError, "cannot clear"):
                with cbl1.capture(path, dispatch=False, device=standins.Device(RuntimeError("cannot clear"))):
                    pass


if __name__ == "__main__":
    unittest.main()
