#!/usr/bin/env python3
"""Verifies a file with the evidence of a payment, or an export of many.

Written from docs/evidence.md alone, without a library, so that it shares no mistake with the verifier of the service.

    verify_evidence.py FILE [--owner-key KEY]… [--log-key KEY]… [--rpc URL] [--json]

An owner's key is its SPKI in base64 or base64url. Exits with 0 if the file is whole and no answer is "no", with 1
otherwise, and with 2 if it was called in another way.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json

from answers import answer
from document import Invalid, read_document
from forms import base64_decode, base64url_decode
from notes import read_key


def main():
    options = parse_arguments()
    with open(options.file, "rb") as file:
        data = file.read()
    try:
        document = read_document(data, set(options.log_key))
    except Invalid as error:
        show_invalid(error, options.json)
        return 1
    results = [answer(payment, set(options.owner_key), options.rpc) for payment in document.payments]
    if options.json:
        shown = [to_json(result) for result in results]
        if document.left_out is None:
            print(json.dumps({"valid": True, **shown[0]}))
        else:
            print(json.dumps({"valid": True, "left_out": document.left_out, "payments": shown}))
    else:
        show(results, document)
    return 1 if any(one == "no" for result in results for one, _ in result.answers.values()) else 0


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


def to_json(result):
    reasons = {question: reason for question, (_, reason) in result.answers.items()}
    return {"payment": result.payment, **{name: one for name, (one, _) in result.answers.items()}, "reasons": reasons}


def show_invalid(error, as_json):
    if as_json:
        print(json.dumps({"valid": False, "part": error.part, "reason": error.reason}))
    else:
        print(f"invalid: {error.part}: {error.reason}")


def show(results, document):
    questions = {
        "owner_signed": "owner signed",
        "within_limits": "within the signed limits",
        "on_chain": "happened on the chain",
    }
    for result in results:
        print(f"payment {json.dumps(result.payment)}")
        for name, question in questions.items():
            one, reason = result.answers[name]
            print(f"  {question}: {one} ({reason})")
    if document.left_out is not None:
        print(f"{document.left_out} payments of the period have no evidence yet")
    print("Not proved:")
    for sentence in document.sentences:
        print(f"  {sentence}")


if __name__ == "__main__":
    sys.exit(main())
