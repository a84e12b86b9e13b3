"""Verifies the files of standard input, one in each line, and prints a result for each. The tests use it.

A line is a JSON object: `file` in base64, `owner_keys`, `log_keys` and `rpc`, as verify_evidence.py has them. The result
is what `--json` prints.
"""

import sys

sys.dont_write_bytecode = True

import base64
import json

from verify_evidence import log_key, owner_key, verify

for line in sys.stdin:
    asked = json.loads(line)
    owner_keys, log_keys = set(map(owner_key, asked["owner_keys"])), set(map(log_key, asked["log_keys"]))
    print(json.dumps(verify(base64.b64decode(asked["file"]), owner_keys, log_keys, asked["rpc"])), flush=True)
