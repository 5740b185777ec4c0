"""Draws many reports with gprof2dot in one process: gprof2dot_many.py REPORT...

Beside each report, REPORT.dot gets the drawing, and REPORT.err the messages. gprof2dot omits nothing, however short its time.
"""

import contextlib
import sys

import gprof2dot

for report in sys.argv[1:]:
    with open(report + ".err", "w", encoding="utf-8") as messages, contextlib.redirect_stderr(messages):
        gprof2dot.main(["--node-thres=0", "--edge-thres=0", "--output", report + ".dot", report])
