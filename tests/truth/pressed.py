"""One load of the engine, with as little around it as there can be: for callgrind, which counts what it executes.

    python pressed.py ENGINE ORDER RECORD

ENGINE is the file of the engine, ORDER a file with load, client and program as JSON; prints how many iterations passed.
"""

import importlib.util
import json
import sys
from pathlib import Path

spec = importlib.util.spec_from_file_location("_native", sys.argv[1])
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
order = json.loads(Path(sys.argv[2]).read_text())
recorder = engine.Recorder(sys.argv[3], 0)
press = engine.Press(recorder, json.dumps(order["load"]))
press.native(json.dumps(order["client"]), json.dumps(order["program"]))
while not press.wait(60):
    pass
frame = press.frame()
recorder.close()
print(sum(row["passed"] for row in frame["rows"] if row["iteration"]))
