"""Writes the event log of cbl1 (docs/events.md), one event a line. Standard library only.

    events = Events(sys.stdout)
    events("dispatch", program=7, devices=[0, 1], t=clock)
"""
import json
import subprocess


class Events:
    """An event log that is written to a text file."""

    def __init__(self, out, **header):
        self.out = out
        self("log", version=1, **header)

    def __call__(self, event, **fields):
        self._line(event=event, **fields)

    def query(self, query, **fields):
        self._line(query=query, **fields)

    def _line(self, **fields):
        self.out.write(json.dumps(fields, separators=(",", ":")) + "\n")
        self.out.flush()


class Live(Events):
    """An event log that a running "cbl1 stream" follows, and answers."""

    def __init__(self, command=("cbl1", "stream"), **header):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.refused = []  # answers "anomaly" so far
        super().__init__(self.process.stdin, **header)

    def ask(self, query, **fields):
        """Returns the answer, when it has come."""
        self.query(query, **fields)
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer["answer"] != "anomaly":
                return answer
            self.refused.append(answer)
        raise EOFError("cbl1 stream has ended: see what it wrote to standard error")

    def close(self):
        """Ends the log. Returns the exit code."""
        self.process.stdin.close()
        self.refused += map(json.loads, self.process.stdout)
        return self.process.wait()
