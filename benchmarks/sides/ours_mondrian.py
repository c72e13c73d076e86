"""Our Mondrian on Adult, read from the same frame: CPU seconds of read + publish, number of classes, NCP of the rows of
each class as for every tool, and the loss of the regions we publish, which hold whole runs of codes."""

import json
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
from ncp import ncp

import sfumato as sf
from sfumato.data.codec import encode_into

path, k, numeric, text = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
frame = pd.read_parquet(path)


def work(rows):
    """From frame to release."""
    data = sf.read(rows, name="adult").roles(quasi=numeric + text, sensitive=["occupation"])
    rules = {"age": sf.intervals(1, low=17, high=90)}
    return data, sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(k), hierarchies=rules)


def classes(form):
    """Row positions of each group: strict partitioning gives disjoint regions, so a row lies in one."""
    codes = {c: encode_into(form.domains[c], pa.array(frame[c])) for c in form.low}
    found = []
    for group in range(form.n_groups):
        inside = np.ones(len(frame), dtype=bool)
        for c, code in codes.items():
            inside &= (form.low[c][group] <= code) & (code <= form.high[c][group])
        found.append(np.flatnonzero(inside))
    assert sum(map(len, found)) == len(frame) and min(map(len, found)) >= k
    return found


work(frame.head(1000))
started = time.process_time()
data, release = work(frame)
seconds = time.process_time() - started
loss = next(row["value"] for row in sf.measure(release, data, metrics=["gcp"]).rows())
groups = classes(release.release)
raw = ncp(frame, groups, numeric, text)
print(json.dumps({"cpu": seconds, "groups": len(groups), "ncp": raw, "regions": loss}))
