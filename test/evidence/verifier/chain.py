"""Asks a node of the chain (JSON-RPC of Ethereum) whether a payment happened."""

import http.client
import json
import re
import urllib.request

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
TIMEOUT_SECONDS = 20
RESPONSE_BYTES_MAX = 10_000_000
QUANTITY = re.compile("0x[0-9a-fA-F]{1,64}")


class NoAnswer(Exception):
    pass


def check_chain(url, payment, signed):
    """Returns the answer and a reason."""
    decided, ended = payment.decided.values, payment.ended.values
    try:
        chain = to_number(call(url, "eth_chainId", []))
        if chain != signed["chain"]:
            return "not checked", f"the node is of the chain {chain}, not of {signed['chain']}"
        receipt = call(url, "eth_getTransactionReceipt", [ended["tx_hash"]])
        if receipt is None:
            return "no", "the node knows no such transaction"
        fault = find_fault(receipt, decided, ended, signed)
    except NoAnswer as error:
        return "not checked", f"the node gave no answer ({error})"
    return ("yes", f"in block {ended['block']}") if fault is None else ("no", fault)


def find_fault(receipt, decided, ended, signed):
    """Returns what in the receipt is not as the payment says, or None."""
    try:
        block = (to_number(receipt["blockNumber"]), receipt["blockHash"].lower())
        if str(block[0]) != ended["block"] or block[1] != ended["block_hash"].lower():
            return "the transaction is in another block"
        if to_number(receipt["status"]) != 1:
            return "the transaction failed"
        logs = receipt["logs"]
        settled = [log for log in logs if str(to_number(log["logIndex"])) == ended["log_index"]]
        if len(settled) != 1 or not is_transfer(settled[0], decided, signed):
            return "the log at the position is not this transfer"
        token = settled[0]["address"].lower()
        if decided["kind"] == "x402" and not any(is_authorization(log, token, decided) for log in logs):
            return "the transaction did not use the authorization"
        return None
    except (KeyError, TypeError, AttributeError):
        raise NoAnswer("the receipt has another form") from None


def is_transfer(log, decided, signed):
    topics = [TRANSFER, to_topic(decided["wallet"]), to_topic(decided["to"])]
    is_token = log["address"].lower() in signed["tokens"]
    is_amount = log["data"].lower() == f"0x{int(decided['amount']):064x}"
    return is_token and is_amount and [topic.lower() for topic in log["topics"]] == topics


def is_authorization(log, token, decided):
    topics = [AUTHORIZATION_USED, to_topic(decided["wallet"]), (decided["nonce"] or "").lower()]
    return log["address"].lower() == token and [topic.lower() for topic in log["topics"]] == topics


def to_topic(address):
    return "0x" + address[2:].lower().rjust(64, "0")


def to_number(text):
    if not isinstance(text, str) or not QUANTITY.fullmatch(text):
        raise NoAnswer("a number has another form")
    return int(text, 16)


def call(url, method, parameters):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
    try:
        if not url.startswith(("http://", "https://")):
            raise ValueError("the address of the node is not of HTTP")
        request = urllib.request.Request(url, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            value = json.loads(response.read(RESPONSE_BYTES_MAX))
    # Errors of the network are OSError, those of JSON and of addresses ValueError.
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise NoAnswer(str(error)) from None
    if not isinstance(value, dict) or "result" not in value:
        raise NoAnswer("an error")
    return value["result"]
