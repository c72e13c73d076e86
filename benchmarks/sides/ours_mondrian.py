"""Our Mondrian on Adult, read from the same frame: CPU seconds of read + publish, number of classes, NCP of the rows of
each class as for every tool, and the loss of the regions we publish, which hold whole runs of codes.

A folder of hierarchies gives texts a meaningful order of leaves; without one they are in alphabetical order.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from ncp import ncp

import sfumato as sf

path, k, numeric, text = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
folder = Path(sys.argv[5]) if len(sys.argv) > 5 else None
frame = pd.read_parquet(path)
rules = {"age": sf.intervals(1, low=17, high=90)}
if folder is not None:
    rules |= {c: sf.hierarchy_file(folder / f"{c}.csv") for c in text}


def work(rows, sensitive):
    """From frame to release."""
    data = sf.read(rows, name="adult").roles(quasi=numeric + text, sensitive=[sensitive])
    return data, sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(k), hierarchies=rules)


def classes():
    """Row positions of each group: the same partition once more, with the position as a sensitive column."""
    form = work(frame.assign(position=np.arange(len(frame))), "position")[1].release
    rows = form.domains["position"].numbers[form.exact["position"]].astype(int)
    order = np.argsort(form.group, kind="stable")
    found = np.split(rows[order], np.flatnonzero(np.diff(form.group[order])) + 1)
    assert sorted(rows.tolist()) == list(range(len(frame))) and min(map(len, found)) >= k
    return found


work(frame.head(1000), "occupation")
started = time.process_time()
data, release = work(frame, "occupation")
seconds = time.process_time() - started
loss = next(row["value"] for row in sf.measure(release, data, metrics=["gcp"]).rows())
groups = classes()
raw = ncp(frame, groups, numeric, text)
print(json.dumps({"cpu": seconds, "groups": len(groups), "ncp": raw, "regions": loss}))
