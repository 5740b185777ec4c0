"""Reads a CSV of gprof by Python's csv, duckdb and polars, and prints what each has read as JSON."""
import csv
import json
import sys

import duckdb
import polars

path = sys.argv[1]
FIELDS = ["kind", "image", "function", "callee", "self", "inclusive", "calls"]


def rows(records):
    return [[record[field] or None for field in FIELDS] for record in records]


with open(path, newline="", encoding="utf-8") as file:
    plain = rows(csv.DictReader(file))
for row in plain:
    row[4:6] = [None if value is None else float(value) for value in row[4:6]]
    row[6] = int(row[6])
relation = duckdb.sql(f"select {', '.join(FIELDS)} from read_csv('{path}')").fetchall()
duck = [[value or None for value in row] for row in relation]
frame = rows(polars.read_csv(path, infer_schema_length=None).to_dicts())
# An empty text, a missing value and 0 are the same here.
clean = lambda table: [[value or None for value in row] for row in table]
print(json.dumps({"csv": clean(plain), "duckdb": clean(duck), "polars": clean(frame)}))
