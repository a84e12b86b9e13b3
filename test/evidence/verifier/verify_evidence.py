#!/usr/bin/env python3
"""Verifies a file with the evidence of a payment, or an export of many.

Written from docs/evidence.md alone, without a library, so that it shares no mistake with the verifier of the service.

    verify_evidence.py FILE [--owner-key KEY]… [--log-key KEY]… [--rpc URL] [--json]

An owner's key is its SPKI in base64 or base64url. Exits with 0 if the file is whole and no answer is "no", with 1
otherwise, and with 2 if the arguments are wrong.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json

from answers import QUESTIONS, answer
from document import SENTENCES, Invalid, read_document
from forms import base64_decode, base64url_decode
from notes import read_key


def verify(data, owner_keys, log_keys, rpc):
    """Returns what the file proves, as an object for JSON."""
    try:
        payments, left_out = read_document(data, log_keys)
    except Invalid as error:
        return {"valid": False, "part": error.part, "reason": error.reason}
    transfers = set()
    results = [answer(payment, owner_keys, rpc, transfers) for payment in payments]
    if left_out is None:
        return {"valid": True, **results[0]}
    return {"valid": True, "left_out": left_out, "payments": results}


def main():
    options = parse_arguments()
    with open(options.file, "rb") as file:
        data = file.read()
    result = verify(data, set(options.owner_key), set(options.log_key), options.rpc)
    if options.json:
        print(json.dumps(result))
    elif result["valid"]:
        show(result)
    else:
        print(f"invalid: {json.dumps(result['part'])} {result['reason']}")
    return 0 if result["valid"] and not has_no(result) else 1


def has_no(result):
    return any(one[question] == "no" for one in result.get("payments", [result]) for question in QUESTIONS)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Verifies evidence of payments.")
    parser.add_argument("file")
    parser.add_argument("--owner-key", action="append", default=[], type=owner_key)
    parser.add_argument("--log-key", action="append", default=[], type=log_key)
    parser.add_argument("--rpc")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def owner_key(text):
    key = base64_decode(text) or base64url_decode(text)
    if not key:
        raise argparse.ArgumentTypeError("is not base64")
    return key


def log_key(text):
    if read_key(text) is None:
        raise argparse.ArgumentTypeError("is no verifier key")
    return text


def show(result):
    for one in result.get("payments", [result]):
        print(f"payment {json.dumps(one['payment'])}")
        for question, words in QUESTIONS.items():
            print(f"  {words}: {one[question]} ({one['reasons'][question]})")
    if "left_out" in result:
        print(f"{result['left_out']} payments of the period have no evidence, or not yet")
    print("Not proved:")
    for sentence in SENTENCES:
        print(f"  {sentence}")


if __name__ == "__main__":
    sys.exit(main())
