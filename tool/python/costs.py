"""What the package and the pipe cost: python3 tool/python/costs.py CBL1, where CBL1 is the path of the command.

Processor time of this process and its children, the least of some rounds. Run it in a clone, on a machine without other
work: a second process on a core makes both slower.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "examples", "python")]
os.environ["CBL1"] = os.path.abspath(sys.argv[1])
EXAMPLE = os.path.join(ROOT, "examples", "cached_ops.json")


def spent():
    """Returns the processor time of this process and its finished children, in milliseconds."""
    return sum(1e3 * (u.ru_utime + u.ru_stime) for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def least(f, rounds=20):
    best = float("inf")
    for _ in range(rounds):
        start = spent()
        f()
        best = min(best, spent() - start)
    return best


def python(code):
    return least(lambda: subprocess.run([sys.executable, "-c", code], check=True, cwd=HERE))


bare = python("pass")
print(f"import cbl1, beyond the {bare:.1f} ms of Python's start  {python('import cbl1') - bare:8.2f} ms  (goal 30)")

import cbl1  # noqa: E402
from cbl1_events import Live  # noqa: E402

print(f"cbl1.check of examples/cached_ops.json            {least(lambda: cbl1.check(EXAMPLE)):8.2f} ms  (goal 25)")

with open(EXAMPLE) as f:
    nodes = json.load(f)
nodes = nodes.get("graph", nodes) if isinstance(nodes, dict) else nodes
small = json.dumps(nodes[: next(n for n in range(1, len(nodes)) if len(json.dumps(nodes[:n])) > 10_000)])
with tempfile.TemporaryDirectory() as folder:
    for i in range(1000):
        with open(os.path.join(folder, f"{i:04}.json"), "w") as f:
            f.write(small)
    took = least(lambda: list(cbl1.each("check", folder)), 3) / 1000
print(f"a capture of a folder of 1,000, {len(small):,} bytes each   {took:8.2f} ms  (goal 2)")


def pipe(queries):
    live = Live([os.environ["CBL1"], "stream"])
    live("device", device=0, spec={"board": "n150"})
    for _ in range(queries):
        live.ask("place", buffer=1, size=65536)
    live.close()


took = (least(lambda: pipe(5000), 3) - least(lambda: pipe(0), 3)) / 5
print(f"a query of a running cbl1 stream, from Python     {took:8.2f} us")
