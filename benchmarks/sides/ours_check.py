"""Our k of the same table, from the frame: encode, count classes, take the smallest."""

import json
import sys
import time

import pandas as pd

import sfumato as sf
from sfumato.data.evidence import classes

path, columns = sys.argv[1], json.loads(sys.argv[2])
frame = pd.read_parquet(path)


def work():
    """From frame to the size of the smallest class."""
    data = sf.read(frame[columns], name="adult").roles(quasi=columns)
    return int(classes(data, columns).sizes.min())


work()
started = time.process_time()
k = work()
print(json.dumps({"cpu": time.process_time() - started, "k": k}))
