"""Reads the JSON of gprof by Python's json, duckdb and polars, and prints the names of functions that each has read as JSON."""
import json
import sys

import duckdb
import polars

path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    plain = [function["name"] for function in json.load(file)["functions"]]
duck = duckdb.sql(f"select unnest(functions).name from read_json('{path}')").fetchall()
frame = polars.read_json(path)["functions"].explode().struct.field("name").to_list()
print(json.dumps({"json": plain, "duckdb": [name for (name,) in duck], "polars": frame}))
