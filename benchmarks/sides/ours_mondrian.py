"""Our Mondrian on Adult, read from the same frame: CPU seconds of read + publish, number of classes, NCP."""

import json
import sys
import time

import pandas as pd

import sfumato as sf

path, k, numeric, text = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
frame = pd.read_parquet(path)


def work():
    """From frame to release."""
    data = sf.read(frame, name="adult").roles(quasi=numeric + text, sensitive=["occupation"])
    rules = {"age": sf.intervals(1, low=17, high=90)}
    return data, sf.publish(data, sf.Mondrian(), require=sf.KAnonymity(k), hierarchies=rules)


work()
started = time.process_time()
data, release = work()
seconds = time.process_time() - started
figures = {row["metric"]: row["value"] for row in sf.measure(release, data).rows()}
print(json.dumps({"cpu": seconds, "groups": len(release.groups()), "ncp": figures["gcp"]}))
