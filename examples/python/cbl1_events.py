"""Writes the event log of cbl1 (docs/events.md), one event a line. Standard library only.

    events = Events(sys.stdout)
    events("dispatch", program=7, devices=[0, 1], t=clock)
"""
import json
import queue
import subprocess
import threading


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
    """An event log that a running "cbl1 stream" follows, and answers.

    A thread reads the answers, so that neither side ever waits for the other. Where the command has ended, each
    call raises EOFError.
    """

    ENDED = "cbl1 stream has ended: see what it wrote to standard error"

    def __init__(self, command=("cbl1", "stream"), **header):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.refused = []  # answers "anomaly" so far
        self._answers = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        super().__init__(self.process.stdin, **header)

    def _line(self, **fields):
        try:
            super()._line(**fields)
        except BrokenPipeError:
            raise EOFError(self.ENDED) from None

    def _read(self):
        end = EOFError(self.ENDED)
        try:
            for line in self.process.stdout:
                answer = json.loads(line)
                if answer["answer"] == "anomaly":
                    self.refused.append(answer)
                else:
                    self._answers.put(answer)
        except Exception as error:  # what wrote this is not cbl1
            end = error
        self._answers.put(end)
        for _ in self.process.stdout:  # it may still write, and must not wait for us
            pass

    def ask(self, query, **fields):
        """Returns the answer, when it has come. refused then has all that was refused before."""
        self.query(query, **fields)
        answer = self._answers.get()
        if isinstance(answer, Exception):
            self._answers.put(answer)  # for whoever asks again
            raise answer
        return answer

    def close(self):
        """Ends the log. Returns the exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # the exit code says why
        self._reader.join()
        return self.process.wait()
