"""pycanon's k of a table. Runs in the peers' environment."""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

path, columns = sys.argv[1], json.loads(sys.argv[2])
frame = pd.read_parquet(path)
anonymity.k_anonymity(frame.head(1000), columns)
started = time.process_time()
k = anonymity.k_anonymity(frame, columns)
print(json.dumps({"cpu": time.process_time() - started, "k": int(k)}))
