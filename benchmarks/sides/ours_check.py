"""Our k of the same table, from the frame: encode, count classes, take the smallest."""

import json
import sys
import time
from functools import reduce

import pandas as pd

import sfumato as sf
from sfumato.data.combinations import Keys, keys_of

path, columns = sys.argv[1], json.loads(sys.argv[2])
frame = pd.read_parquet(path)


def work(rows):
    """From frame to the size of the smallest class."""
    data = sf.read(rows[columns], name="adult").roles(quasi=columns)
    return int(reduce(Keys.with_column, [keys_of(data, name) for name in columns]).counts().min())


work(frame.head(1000))
started = time.process_time()
k = work(frame)
print(json.dumps({"cpu": time.process_time() - started, "k": k}))
