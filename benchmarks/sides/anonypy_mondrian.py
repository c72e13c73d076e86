"""anonypy's Mondrian on Adult: CPU seconds of partitioning, number of classes, NCP. Runs in the peers' environment."""

import json
import sys
import time

import pandas as pd
from anonypy import mondrian
from ncp import ncp

path, k, numeric, text = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
frame = pd.read_parquet(path)
for column in [*text, "occupation"]:
    frame[column] = frame[column].astype("category")
mondrian.Mondrian(frame.head(1000), numeric + text, "occupation").partition(k)
started = time.process_time()
partitions = mondrian.Mondrian(frame, numeric + text, "occupation").partition(k)
seconds = time.process_time() - started
groups = [frame.index.get_indexer(partition) for partition in partitions]
print(json.dumps({"cpu": seconds, "groups": len(groups), "ncp": ncp(frame, groups, numeric, text)}))
