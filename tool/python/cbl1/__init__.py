"""What circular buffers take of each core's L1, and what fits.

    with cbl1.capture() as run:
        model(x)
    run.check("90%")                    # raises cbl1.DoesNotFit with the verdict as its text
    cbl1.check("run.json")["answer"]    # "fits", "does_not_fit" or "cannot_tell"

Answers are the JSON documents of the command, as dicts. An input is a path, or a list of nodes as
ttnn.graph.end_graph_capture returns it. Options are those of the command, with _ for -.
"""
import contextlib
import json
import os
import subprocess
import sysconfig

# html, shutil and tempfile are imported where they are needed: importing them here takes a quarter of the time.
TYPE_CHECKING = False  # importing typing would take longer than the rest
if TYPE_CHECKING:
    from . import documents

__all__ = ["Error", "DoesNotFit", "CannotTell", "binary", "check", "peak", "room", "report", "who", "diff", "each", "text",
           "capture", "Run"]


class Error(Exception):
    """The command could not answer: an input cannot be read, or an option is wrong."""


class DoesNotFit(AssertionError):
    """A program does not fit, or a core holds more than the budget. The text is that of the command."""


class CannotTell(AssertionError):
    """Nothing is known not to fit, but the capture hides something. The text says what."""


def binary():
    """Returns the path of the command: $CBL1, else that of this installation, else that in PATH."""
    if os.environ.get("CBL1"):
        return os.environ["CBL1"]
    name = "cbl1.exe" if os.name == "nt" else "cbl1"
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # pip install --target
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    for folder in (sysconfig.get_path("scripts"), user, os.path.join(beside, "bin")):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    import shutil

    found = shutil.which("cbl1")
    if not found:
        raise Error("the command cbl1 is not installed")
    return found


def _flags(options):
    for name, value in options.items():
        name = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield name
            elif one is not None and one is not False:
                yield f"{name}={one}"


def _call(verb, inputs, options, **more):
    """Runs the command, and returns its output and why it cannot answer. One list of nodes goes to its standard input,
    more go into files."""
    nodes, names = None, []
    with contextlib.ExitStack() as stack:
        folder = None
        for i, x in enumerate(inputs):
            if isinstance(x, (str, bytes, os.PathLike)):
                names.append(os.fsdecode(x))
            elif isinstance(x, int):
                names.append(str(x))
            elif nodes is None:
                nodes = json.dumps(x).encode()
                names.append("-")
            else:
                import tempfile

                folder = folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="cbl1-"))
                names.append(os.path.join(folder, f"nodes-{i}.json"))
                with open(names[-1], "w") as f:
                    json.dump(x, f)
        try:
            r = subprocess.run([binary(), verb, *_flags({**more, **options}), "--", *names], input=nodes or b"", capture_output=True)
        except OSError as e:
            raise Error(f"the command cbl1 cannot be started: {e}") from e
    wrong = None if r.returncode in (0, 1, 3) else Error(r.stderr.decode("utf-8", "replace").strip())
    return r.stdout.decode("utf-8", "replace"), wrong


def each(verb, *inputs, **options):
    """Yields a document for each capture of the inputs: one start of the command for all of them. Raises Error at the end
    if some cannot be read."""
    out, wrong = _call(verb, inputs, options, format="json")
    for line in out.splitlines():
        yield json.loads(line)
    if wrong:
        raise wrong


def text(verb, *inputs, **options):
    """Returns what the command prints for people."""
    out, wrong = _call(verb, inputs, options)
    if wrong:
        raise wrong
    return out


def _one(verb, inputs, options):
    documents = list(each(verb, *inputs, **options))
    if len(documents) != 1:
        raise Error(f"{len(documents)} captures, where one is wanted: use each")
    return documents[0]


def check(capture, **options) -> "documents.Check":
    """Returns whether all programs fit: the document of cbl1 check."""
    return _one("check", (capture,), options)


def peak(capture, **options) -> "documents.Peak":
    """Returns what lies on the fullest core: the document of cbl1 peak."""
    return _one("peak", (capture,), options)


def room(capture, **options) -> "documents.Room":
    """Returns what would fit besides: the document of cbl1 room."""
    return _one("room", (capture,), options)


def report(capture, **options) -> "documents.Report":
    """Returns the figures of each device: the document of cbl1 report."""
    return _one("report", (capture,), options)


def who(capture, address, **options) -> "documents.Who":
    """Returns who held an address: the document of cbl1 who."""
    return _one("who", (capture, address), options)


def diff(old, new, **options) -> "documents.Diff":
    """Returns what changed from one capture to another: the document of cbl1 diff."""
    return _one("diff", (old, new), options)


class Run:
    """A capture in a file."""

    def __init__(self, path):
        self.path = path
        self.dispatched = None  # of a capture without dispatch: whether it ran all the same, inside another one

    def check(self, budget=None, strict=False, **options):
        """Returns the document of cbl1 check. Raises DoesNotFit, and with strict CannotTell."""
        document = check(self.path, budget=budget, **options)
        if document["answer"] == "does_not_fit":
            raise DoesNotFit(text("check", self.path, budget=budget, **options).rstrip())
        if strict and document["answer"] == "cannot_tell":
            raise CannotTell(text("check", self.path, budget=budget, **options).rstrip())
        return document

    def _repr_html_(self):
        """A notebook shows the page of the capture."""
        import html

        return f'<iframe srcdoc="{html.escape(text("page", self.path, output="-"))}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self):
        ran = ", which ran inside another capture: nothing was held back" if self.dispatched else ""
        return f"<cbl1 capture {self.path}{ran}>"


def _ran(path):
    """Reports whether a capture shows addresses of circular buffers: without dispatch all of them are 0."""
    with open(path) as f:
        nodes = json.load(f)
    if isinstance(nodes, dict):
        nodes = nodes.get("graph", [])
    return any(str(n.get("params", {}).get("address", 0)) != "0" for n in nodes if n.get("node_type") == "circular_buffer_allocate")


@contextlib.contextmanager
def capture(path=None, *, dispatch=True, device=None):
    """Captures the ttnn operations of a with block into a file, also where the block throws.

    It belongs around the first run of a model: operations that come from the program cache show no circular buffers.
    It sees the operations of its own thread. With dispatch=False nothing runs, unless another capture is going on: then
    run.dispatched is true. It needs the device, whose program cache is cleared afterwards, since programs that never ran
    would make later runs compute garbage.
    """
    import ttnn

    if not dispatch and device is None:
        raise ValueError("dispatch=False needs the device: its program cache has to be cleared")
    graph = ttnn.graph
    if path is None:
        import tempfile

        handle, path = tempfile.mkstemp(prefix="cbl1-", suffix=".json")
        os.close(handle)
    run = Run(os.fspath(path))
    graph.begin_graph_capture(graph.RunMode.NORMAL if dispatch else graph.RunMode.NO_DISPATCH)
    try:
        yield run
    finally:
        try:
            to_file = getattr(graph, "end_graph_capture_to_file", None)
            if to_file:
                to_file(run.path)
            else:  # releases before reports
                nodes = graph.end_graph_capture()
                with open(run.path, "w") as f:
                    json.dump(nodes, f)
        finally:
            if not dispatch:
                device.clear_program_cache()
        if not dispatch:
            run.dispatched = _ran(run.path)
