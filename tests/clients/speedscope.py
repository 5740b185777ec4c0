"""Validates a profile for speedscope with speedscope's schema. Prints the inclusive and the self time of each name as JSON."""
import json
import sys

import jsonschema

schema, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    profile = json.load(file)
with open(schema, encoding="utf-8") as file:
    jsonschema.validate(profile, json.load(file))
names = [frame["name"] for frame in profile["shared"]["frames"]]
inclusive, own = {}, {}
for thread in profile["profiles"]:
    stack, last = [], thread["startValue"]
    for event in thread["events"]:
        assert event["at"] >= last, event
        passed, last = event["at"] - last, event["at"]
        for name in set(stack):
            inclusive[name] = inclusive.get(name, 0) + passed
        if stack:
            own[stack[-1]] = own.get(stack[-1], 0) + passed
        if event["type"] == "O":
            stack.append(names[event["frame"]])
        else:
            assert stack.pop() == names[event["frame"]], event
    assert not stack and last == thread["endValue"], (stack, last)
print(json.dumps({"inclusive": inclusive, "own": own}))
