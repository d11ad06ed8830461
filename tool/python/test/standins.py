"""Stand-ins for ttnn of three releases, for tests: nothing runs, and a capture has the nodes that are given."""
import json
import sys
import types


class Device:
    def __init__(self, error=None):
        self.cleared, self.error = 0, error

    def clear_program_cache(self):
        self.cleared += 1
        if self.error:
            raise self.error


def install(release, nodes):
    """Installs ttnn of a release: "list" returns nodes, "file" writes a report, "wrapped" has sidecars too."""
    ttnn, graph = types.ModuleType("ttnn"), types.ModuleType("ttnn.graph")
    ttnn.graph, ttnn.begun = graph, []

    class RunMode:
        NORMAL, NO_DISPATCH = "normal", "no dispatch"

    def end():
        ttnn.begun.pop()
        return nodes

    def to_file(path):
        report = {"version": 1, "graph": end(), "devices": [], "metadata": {}}
        with open(path, "w") as f:
            json.dump(report, f)
        if release == "wrapped":
            with open(path[: -len(".json")] + ".python_io.json", "w") as f:
                f.write("[]")

    graph.RunMode = RunMode
    graph.begin_graph_capture = ttnn.begun.append
    graph.end_graph_capture = end
    if release != "list":
        graph.end_graph_capture_to_file = to_file
    if release == "wrapped":
        graph.is_graph_capture_active = lambda: True  # as releases of spring 2026 answer
    sys.modules["ttnn"], sys.modules["ttnn.graph"] = ttnn, graph
    return ttnn
