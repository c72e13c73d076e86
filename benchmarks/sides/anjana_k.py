"""anjana's k-anonymity on Adult with hierarchies by column. Runs in the peers' environment."""

import json
import sys
import time

import pandas as pd
from anjana.anonymity import k_anonymity

path, k, columns, folder = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
frame = pd.read_parquet(path)
for column in frame.select_dtypes("category"):
    frame[column] = frame[column].astype(object)
levels = {}
for column in columns:
    table = pd.read_csv(f"{folder}/{column}.csv", header=None, sep=";", dtype=str)
    if column == "age":
        table[0] = table[0].astype(int)
    levels[column] = {i: table[i].to_numpy() for i in range(table.shape[1])}
k_anonymity(frame.head(1000), [], columns, k, 40, levels)
started = time.process_time()
found = k_anonymity(frame, [], columns, k, 4, levels)
print(json.dumps({"cpu": time.process_time() - started, "rows": len(found)}))
