"""Writes examples/events.jsonl: python3 demo.py | cbl1 stream"""
import sys

from cbl1_events import Events

events = Events(sys.stdout)
events("device", device=0, spec={"board": "p150b"})
events("op_start", name="ttnn.matmul", t=1000)
events("program", program=1, name="matmul, 1 of 2", cbs=[
    {"cores": "[0-0 - 7-7]", "size": 131072, "indices": [{"index": 0, "page_size": 2048}]},
    {"cores": "[0-0 - 7-7]", "size": 524288},
])
events("enqueue", program=1, devices=[0], t=1010)
events("op_end", t=1500)
events.query("totals", device=0, id=1)
events("allocate", buffer=1, kind="l1", name='a "large" tensor', devices=[0], parts=[{"address": 704512, "size": 868352}], t=1600)
events("enqueue", program=1, devices=[0], t=1700)  # does not fit any more
events.query("headroom", program=1, devices=[0], id=2)
events.query("who", device=0, core="7-7", address=704512, id=3)
events("free", buffer=1, t=1800)
events("enqueue", program=1, devices=[0], t=1900)
events.query("anomalies", id=4)
