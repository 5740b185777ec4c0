"""Prints the script by which speedscope's page loads a file, as speedscope's command makes it."""
import base64
import json
import os
import sys

path = sys.argv[1]
with open(path, "rb") as file:
    content = base64.b64encode(file.read()).decode()
print(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(content)})")
