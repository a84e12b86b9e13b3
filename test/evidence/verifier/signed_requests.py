"""Reads what owners sign: requests to the enclave, wallet records and statements that resume grants."""

import re

import canonical_json
from forms import as_time, base64_decode
from p256 import SPKI_PREFIX

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
INTEGER = re.compile(r"0|[1-9][0-9]{0,77}")
QUANTITY = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,63})")
URL = re.compile(r"(https?://[^?#]+?)/v1/(policies|wallets|key_quorums)/([A-Za-z0-9_-]{1,64})(/rpc)?")
RULE_NAME = re.compile(r"(grt_[0-9A-HJKMNP-TV-Z]{26})(?: ((?:0|[1-9][0-9]*)(?:\.[0-9]{0,5}[1-9])?))?")
USDC = re.compile(r"(?:0|[1-9][0-9]{0,71})(?:\.[0-9]{1,6})?")
RULE_NAME_MAX = 49
TRANSFER = re.compile(r"0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})")
END_MAX = 8_640_000_000_000
SLOTS_MAX = 100
GRANTS_MAX = 5_000
ABI = canonical_json.parse(
    b'[{"inputs":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}],"name":"transfer",'
    b'"outputs":[{"name":"","type":"bool"}],"stateMutability":"nonpayable","type":"function"}]'
)
TYPED_DATA = canonical_json.parse(
    b'{"primary_type":"TransferWithAuthorization","types":{"TransferWithAuthorization":[{"name":"from","type":"address"},'
    b'{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"validAfter","type":"uint256"},'
    b'{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]}}'
)


class Unknown(Exception):
    """The signed bytes are not what an owner can have signed for this purpose."""


def need(condition, what):
    if not condition:
        raise Unknown(what)


def members(value, what, required, optional=()):
    need(isinstance(value, dict), what)
    need(set(required) <= set(value) <= {*required, *optional}, what)
    return value


def text(value, what, pattern=None):
    need(isinstance(value, str) and (pattern is None or pattern.fullmatch(value)), what)
    return value


def is_number(value, expected):
    return isinstance(value, int) and not isinstance(value, bool) and value == expected


def address(value, what):
    return text(value, what, ADDRESS).lower()


def addresses(operator, value, what):
    if operator == "eq":
        return {address(value, what)}
    need(isinstance(value, list) and value, what)
    return {address(one, what) for one in value}


def integer(value, what):
    return int(text(value, what, INTEGER))


def quantity(value, what):
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(text(value, what, QUANTITY), 16)


def to_micro(amount):
    whole, _, fraction = amount.partition(".")
    return int(whole + fraction.ljust(6, "0"))


def read(kind, signed):
    """Returns what the signed bytes say, as a dictionary. Raises Unknown."""
    try:
        value = canonical_json.parse(signed)
    except ValueError:
        raise Unknown("canonical JSON") from None
    return READERS[kind](value)


def read_request(value, method, collection, call=None):
    request = members(value, "the request", ["version", "method", "url", "body", "headers"])
    need(is_number(request["version"], 1), "the version")
    url = URL.fullmatch(text(request["url"], "the address"))
    need(url is not None and request["method"] == method, "the address")
    need(url[2] == collection and url[4] == call, "the address")
    headers = members(
        request["headers"], "the headers", ["privy-app-id", "privy-request-expiry"], ["privy-idempotency-key"]
    )
    text(headers["privy-request-expiry"], "the expiry", re.compile("[0-9]{13}"))
    if "privy-idempotency-key" in headers:
        text(headers["privy-idempotency-key"], "the idempotency key", re.compile("[!-~]{1,256}"))
    app = text(headers["privy-app-id"], "the application")
    return request, {"enclave": url[1], "app": app, "id": url[3]}


def read_policy(value):
    request, place = read_request(value, "PATCH", "policies")
    rules = members(request["body"], "the body", ["rules"])["rules"]
    need(isinstance(rules, list) and len(rules) <= 2, "the rules")
    return rules, place


def read_revocation(value):
    rules, place = read_policy(value)
    need(rules == [], "the rules")
    return place


def read_grant(value):
    rules, place = read_policy(value)
    need(rules != [], "the rules")
    name, conditions = read_rule(rules[0], "eth_sendTransaction")
    match = RULE_NAME.fullmatch(name)
    need(match is not None and len(name) <= RULE_NAME_MAX, "the name of the rules")
    cap = None if match[2] is None else to_micro(match[2])
    need(cap != 0, "the name of the rules")
    terms = read_transfers(conditions)
    tokens = terms["tokens"]
    purchase_token = None
    if len(rules) == 2:
        other, conditions = read_rule(rules[1], "eth_signTypedData_v4")
        need(other == name, "the name of the rules")
        purchase_token = read_purchases(conditions, terms)
        need(purchase_token in tokens, "the token of purchases")
    return {**place, **terms, "grant": match[1], "cap": cap, "purchase_token": purchase_token}


def read_rule(value, method):
    rule = members(value, "a rule", ["name", "method", "action", "conditions"])
    need(rule["method"] == method and rule["action"] == "ALLOW", "a rule")
    need(isinstance(rule["conditions"], list), "the conditions")
    conditions = {}
    for condition in rule["conditions"]:
        (source, field), test = read_condition(condition)
        need((source, field) not in conditions, "a condition that occurs twice")
        conditions[source, field] = test
    return text(rule["name"], "the name of the rules"), conditions


def read_condition(value):
    need(isinstance(value, dict), "a condition")
    source = text(value.get("field_source"), "the source of a condition")
    more = {"ethereum_calldata": {"abi": ABI}, "ethereum_typed_data_message": {"typed_data": TYPED_DATA}}.get(source, {})
    members(value, "a condition", ["field_source", "field", "operator", "value", *more])
    for name, expected in more.items():
        # Python's == does not tell 1 from true, but neither occurs in the expected values.
        need(value[name] == expected, "the types of a condition")
    key = source, text(value["field"], "the field of a condition")
    return key, (text(value["operator"], "the operator of a condition"), value["value"])


def take(conditions, source, field, operators, is_optional=False):
    test = conditions.pop((source, field), None)
    if test is None:
        need(is_optional, f"a rule without a condition on {field}")
        return None
    need(test[0] in operators, f"the condition on {field}")
    return test


def read_transfers(conditions):
    _, chain = take(conditions, "ethereum_transaction", "chain_id", ["eq"])
    tokens = take(conditions, "ethereum_transaction", "to", ["eq", "in"])
    _, native = take(conditions, "ethereum_transaction", "value", ["eq"])
    _, maximum = take(conditions, "ethereum_calldata", "transfer.amount", ["lte"])
    recipients = take(conditions, "ethereum_calldata", "transfer.to", ["eq", "in"], is_optional=True)
    end = take(conditions, "system", "current_unix_timestamp", ["lt"], is_optional=True)
    need(conditions == {} and native == "0", "a condition")
    return {
        "chain": integer(chain, "the chain"),
        "tokens": addresses(*tokens, "the tokens"),
        "maximum": integer(maximum, "the maximum"),
        "recipients": None if recipients is None else addresses(*recipients, "the recipients"),
        "end": None if end is None else read_end(end[1]),
    }


def read_purchases(conditions, terms):
    message = "ethereum_typed_data_message"
    _, chain = take(conditions, "ethereum_typed_data_domain", "chainId", ["eq"])
    _, token = take(conditions, "ethereum_typed_data_domain", "verifyingContract", ["eq"])
    _, maximum = take(conditions, message, "value", ["lte"])
    recipients = take(conditions, message, "to", ["eq", "in"], is_optional=True)
    valid = take(conditions, message, "validBefore", ["lte"], is_optional=True)
    end = take(conditions, "system", "current_unix_timestamp", ["lt"], is_optional=True)
    need(conditions == {}, "a condition")
    need(integer(chain, "the chain") == terms["chain"], "the chain of purchases")
    need(integer(maximum, "the maximum") == terms["maximum"], "the maximum of purchases")
    allowed = None if recipients is None else addresses(*recipients, "the recipients")
    need(allowed == terms["recipients"], "the recipients of purchases")
    for time in (valid, end):
        need((None if time is None else read_end(time[1])) == terms["end"], "the end of purchases")
    return address(token, "the token of purchases")


def read_end(value):
    seconds = integer(value, "the end")
    need(seconds <= END_MAX, "the end")
    return seconds


def read_withdrawal(value):
    request, place = read_request(value, "POST", "wallets", "/rpc")
    need("privy-idempotency-key" in request["headers"], "the idempotency key")
    body = members(
        request["body"], "the body", ["method", "caip2", "params"], ["chain_type", "sponsor", "reference_id"]
    )
    need(body["method"] == "eth_sendTransaction", "the method")
    need(body.get("chain_type", "ethereum") == "ethereum", "the kind of chain")
    need(isinstance(body.get("sponsor", True), bool), "the sponsor")
    if "reference_id" in body:
        text(body["reference_id"], "the reference id")
    params = members(body["params"], "the parameters", ["transaction"])
    sent = members(params["transaction"], "the transaction", ["from", "to", "data", "value", "chain_id"])
    chain = quantity(sent["chain_id"], "the chain")
    need(body["caip2"] == f"eip155:{chain}" and quantity(sent["value"], "the native value") == 0, "the transaction")
    call = TRANSFER.fullmatch(text(sent["data"], "the call"))
    need(call is not None, "the call")
    return {
        **place,
        "chain": chain,
        "tokens": {address(sent["to"], "the token")},
        "from": address(sent["from"], "the wallet"),
        "to": "0x" + call[1],
        "amount": int(call[2], 16),
        "reference": body.get("reference_id"),
    }


def read_owners(value):
    request, place = read_request(value, "PATCH", "key_quorums")
    body = members(request["body"], "the body", ["public_keys", "authorization_threshold"], ["display_name"])
    need(is_number(body["authorization_threshold"], 1), "the number of signatures")
    text(body.get("display_name", ""), "the name of the owners")
    keys = body["public_keys"]
    need(isinstance(keys, list) and keys, "the public keys")
    decoded = [base64_decode(text(key, "a public key")) for key in keys]
    need(all(key is not None and len(key) == 91 and key.startswith(SPKI_PREFIX) for key in decoded), "a public key")
    need(len(set(decoded)) == len(decoded), "a public key that occurs twice")
    return {**place, "keys": set(decoded)}


def read_record(value):
    names = ["enclave_url", "app_id", "wallet_id", "address", "quorum_id", "policies", "signers"]
    record = members(value, "the record", ["bursar", "version", *names])
    need(record["bursar"] == "wallet-record" and is_number(record["version"], 1), "the kind of the record")
    for name in ("policies", "signers"):
        need(isinstance(record[name], list) and len(record[name]) <= SLOTS_MAX, f"the {name}")
        ids = [text(one, f"the {name}", ID) for one in record[name]]
        need(len(set(ids)) == len(ids), f"the {name}")
    need(len(record["policies"]) == len(record["signers"]), "the slots")
    return {
        "enclave": text(record["enclave_url"], "the enclave"),
        "app": text(record["app_id"], "the application"),
        "wallet": text(record["wallet_id"], "the wallet", ID),
        "quorum": text(record["quorum_id"], "the list of owners", ID),
        "address": address(record["address"], "the address"),
        "policies": record["policies"],
    }


def read_resume(value):
    names = ["expires_at", "grants", "mode", "stop", "workspace"]
    statement = members(value, "the statement", ["bursar", "version", *names])
    need(statement["bursar"] == "resume-grants" and is_number(statement["version"], 1), "the kind of the statement")
    text(statement["mode"], "the mode")
    text(statement["workspace"], "the workspace")
    need(statement["stop"] is None or isinstance(statement["stop"], str), "the stop")
    time(statement["expires_at"], "the expiry")
    grants = statement["grants"]
    need(isinstance(grants, list) and 1 <= len(grants) <= GRANTS_MAX, "the grants")
    return {**statement, "grants": [read_resumed(grant) for grant in grants]}


def read_resumed(value):
    names = ["agent_id", "daily_cap_micro", "expires_at", "id", "max_per_tx_micro"]
    more = ["recipients", "suspended_at", "terms_sha256", "wallet", "x402"]
    grant = members(value, "a grant", [*names, *more])
    recipients = grant["recipients"]
    is_count = isinstance(recipients, int) and not isinstance(recipients, bool) and recipients > 0
    need(recipients is None or is_count, "the recipients of a grant")
    need(isinstance(grant["x402"], bool), "the purchases of a grant")
    text(grant["agent_id"], "an agent")
    text(grant["terms_sha256"], "the terms of a grant", re.compile("[0-9a-f]{64}"))
    time(grant["suspended_at"], "the time of a suspension")
    return {
        "id": text(grant["id"], "the id of a grant"),
        "wallet": address(grant["wallet"], "the wallet of a grant"),
        "maximum": integer(grant["max_per_tx_micro"], "the maximum of a grant"),
        "cap": integer(grant["daily_cap_micro"], "the 24-hour limit of a grant"),
        "recipients": recipients,
        "end": None if grant["expires_at"] is None else time(grant["expires_at"], "the end of a grant") // 1000,
        "x402": grant["x402"],
        "suspended_at": grant["suspended_at"],
    }


def time(value, what):
    milliseconds = as_time(value)
    need(milliseconds is not None, what)
    return milliseconds


READERS = {
    "grant": read_grant,
    "revocation": read_revocation,
    "withdrawal": read_withdrawal,
    "owners": read_owners,
    "record": read_record,
    "resume": read_resume,
}
