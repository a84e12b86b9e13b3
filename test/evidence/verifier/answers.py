"""Answers whether the owner signed, whether the payment is within the limits, and whether it happened on the chain."""

from hashlib import sha256

import canonical_json
import signed_requests
from chain import check_chain
from forms import as_time, base64url

YES, NO, NOT_CHECKED = "yes", "no", "not checked"
QUESTIONS = {
    "owner_signed": "owner signed",
    "within_limits": "within the signed limits",
    "on_chain": "happened on the chain",
}


class Answer(Exception):
    """Ends a question. What is raised first is the answer."""

    def __init__(self, answer, reason):
        super().__init__(reason)
        self.answer = (answer, reason)


def ask(question, *arguments):
    try:
        return (YES, question(*arguments))
    except Answer as error:
        return error.answer


def refuse_if(condition, reason):
    if condition:
        raise Answer(NO, reason)


def skip_if(condition, reason):
    if condition:
        raise Answer(NOT_CHECKED, reason)


def answer(payment, owner_keys, rpc, transfers):
    """Returns the answers to the three questions, and a reason for each. Adds to the transfers of payments before."""
    signed = read_authority(payment)
    needed = [payment.authority]
    is_strange = owner_keys and payment.authority is not None and not are_by_owner(needed, payment, owner_keys)
    answers = {
        "owner_signed": ask(did_owner_sign, payment, signed, owner_keys),
        "within_limits": ask(is_within_limits, payment, signed, is_strange),
        "on_chain": ask(happened_on_chain, payment, signed, is_strange, rpc, transfers),
    }
    reasons = {question: reason for question, (_, reason) in answers.items()}
    return {
        "payment": payment.decided.values["subject"],
        **{question: one for question, (one, _) in answers.items()},
        "reasons": reasons,
    }


def read_signed(signature):
    """Returns what the bytes of a signature say, or None if they are not of its kind."""
    if signature is None:
        return None
    try:
        return signed_requests.read(signature.kind, signature.signed)
    except signed_requests.Unknown:
        return None


def read_authority(payment):
    """Returns what the owner signed for this payment, or None if it was something else."""
    signed = read_signed(payment.authority)
    if signed is None:
        return None
    decided = payment.decided.values
    if payment.authority.kind == "withdrawal":
        return signed if signed["reference"] == decided["subject"] else None
    return signed if signed["grant"] == decided["grant"] else None


# Did the owner sign?


def did_owner_sign(payment, signed, owner_keys):
    authority, decided = payment.authority, payment.decided
    record = payment.find_record(authority)
    skip_if(authority is None, "the file has no signature of an owner")
    skip_if(authority.leaf is None, "the signature was kept before the log had signatures")
    skip_if(record is None, "the file has no record of the wallet by this passkey")
    if payment.suspended is not None:
        skip_if(payment.resume is None, "the file has no signature that resumed the grant")
        skip_if(payment.resume.leaf is None, "the signature that resumed the grant has no leaf")
    refuse_if(not authority.leaf.place < decided.place, "the signature was logged after the payment")
    refuse_if(signed is None, "the signed bytes are no such request, or for another grant or payment")
    check_place(payment, signed, read_signed(record))
    if authority.kind != "withdrawal":
        check_grant(payment, signed)
    fingerprint = sha256(authority.public_key).hexdigest()
    skip_if(not owner_keys, f"no key of an owner was given; the SHA-256 of the passkey's SPKI is {fingerprint}")
    needed = [authority] if payment.suspended is None else [authority, payment.resume]
    refuse_if(not are_by_owner(needed, payment, owner_keys), f"the passkey {fingerprint} is not of a given owner")
    is_recovered = decided.values["recovered_at"] is not None
    skip_if(is_recovered, "the log does not show whether the grant allowed a recovered payment when it was made")
    return f"by the passkey {fingerprint}"


def check_place(payment, signed, record):
    """Checks that what was signed concerns the wallet that paid."""
    refuse_if(record is None, "the record is none")
    is_same = (signed["enclave"], signed["app"]) == (record["enclave"], record["app"])
    refuse_if(not is_same, "the record is of another enclave")
    wallet = payment.decided.values["wallet"].lower()
    refuse_if(record["address"] != wallet, "the record is of another address")
    if payment.authority.kind == "withdrawal":
        is_of_wallet = signed["id"] == record["wallet"] and signed["from"] == record["address"]
        refuse_if(not is_of_wallet, "the request is of another wallet")
    else:
        refuse_if(signed["id"] not in record["policies"], "the policy is not in the record")


def check_grant(payment, signed):
    decided, activated, revoked = payment.decided, payment.activated, payment.revoked
    refuse_if(activated is None, "the grant was not activated")
    refuse_if(not activated.place < decided.place, "the grant was activated after the payment")
    details = activated.texts["details"]
    skip_if(details is None, "the terms of the activated grant are not given")
    terms = canonical_json.parse(details.encode()).get("terms")
    refuse_if(not are_signed_terms(terms, signed), "the grant was activated with other terms")
    # The leaf of a payment that was found on the chain was made later than the payment.
    if decided.values["recovered_at"] is not None:
        return
    is_revoked = revoked is not None and revoked.place < decided.place
    refuse_if(is_revoked, "the grant was revoked before the payment")
    if payment.suspended is None:
        return
    suspended, resumed = payment.suspended, payment.resume
    is_between = suspended.place < resumed.leaf.place < decided.place
    refuse_if(not is_between, "the grant was not resumed between its suspension and the payment")
    refuse_if(not does_resume(payment, signed), "the signed statement does not resume the grant with its limits")


def are_signed_terms(terms, signed):
    try:
        names = ["max_per_tx_usdc", "daily_cap_usdc", "recipient_allowlist", "contract_allowlist", "expires_at", "x402"]
        signed_requests.members(terms, "the terms", names)
        maximum, cap = read_usdc(terms["max_per_tx_usdc"]), read_usdc(terms["daily_cap_usdc"])
        recipients, contracts = (
            [signed_requests.address(one, name) for one in read_list(terms[name])]
            for name in ("recipient_allowlist", "contract_allowlist")
        )
    except signed_requests.Unknown:
        return False
    return (
        maximum == signed["maximum"]
        and signed["cap"] in (None, cap)
        and (set(recipients) or None) == signed["recipients"]
        and set(contracts) == signed["tokens"]
        and is_signed_end(terms["expires_at"], signed)
        and terms["x402"] is (signed["purchase_token"] is not None)
    )


def is_signed_end(text, signed):
    if text is None:
        return signed["end"] is None
    time = as_time(text)
    return time is not None and time // 1000 == signed["end"]


def read_list(value):
    signed_requests.need(isinstance(value, list), "a list")
    return value


def read_usdc(value):
    return signed_requests.to_micro(signed_requests.text(value, "an amount", signed_requests.USDC))


def does_resume(payment, signed):
    decided, statement = payment.decided.values, read_signed(payment.resume)
    if statement is None or (statement["workspace"], statement["mode"]) != (decided["workspace"], decided["mode"]):
        return False
    if payment.resume.values["subject"] != (decided["grant"] if statement["stop"] is None else statement["stop"]):
        return False
    recipients = signed["recipients"]
    named = [grant for grant in statement["grants"] if grant["id"] == decided["grant"]]
    return len(named) == 1 and named[0] == {
        "id": decided["grant"],
        "wallet": decided["wallet"].lower(),
        "maximum": signed["maximum"],
        # The cap of the statement, if the rules have none.
        "cap": named[0]["cap"] if signed["cap"] is None else signed["cap"],
        "recipients": None if recipients is None else len(recipients),
        "end": signed["end"],
        "x402": signed["purchase_token"] is not None,
        "suspended_at": payment.suspended.values["at"],
    }


def are_by_owner(needed, payment, owner_keys):
    """Follows the changes of the owners, from the keys that the user gave."""
    wallet = payment.decided.values["wallet"].lower()
    keys = owner_keys
    # Signatures without a leaf were kept before the log had signatures.
    for signature in sorted(payment.signatures, key=lambda one: (-1, -1) if one.leaf is None else one.leaf.place):
        is_known = signature.public_key in keys
        if any(signature is one for one in needed) and not is_known:
            return False
        if signature.kind == "owners" and is_known:
            record = read_signed(payment.find_record(signature))
            keys = read_new_owners(signature, record, wallet) or keys
    return True


def read_new_owners(signature, record, wallet):
    """Returns the keys that own the wallet after a change, or None if it is no change of this wallet's owners."""
    change = read_signed(signature)
    if change is None or record is None or signature.public_key not in change["keys"]:
        return None
    place = (change["id"], change["enclave"], change["app"], wallet)
    is_same = place == (record["quorum"], record["enclave"], record["app"], record["address"])
    return change["keys"] if is_same else None


# Within the signed limits?


def is_within_limits(payment, signed, is_strange):
    decided = payment.decided.values
    skip_if(payment.authority is None, "the file has no signature of an owner")
    skip_if(is_strange, "the signature is not by an owner")
    refuse_if(signed is None, "the signed bytes are no such request, or for another grant or payment")
    to, amount = decided["to"].lower(), int(decided["amount"])
    if payment.authority.kind == "withdrawal":
        transfer = (decided["wallet"].lower(), to, amount)
        refuse_if((signed["from"], signed["to"], signed["amount"]) != transfer, "another transfer was signed")
        return "the signed transfer"
    skip_if(decided["recovered_at"] is not None, "the log does not say under which limits a recovered payment was made")
    is_recipient = signed["recipients"] is None or to in signed["recipients"]
    refuse_if(not is_recipient, "the recipient is none of the signed ones")
    refuse_if(amount > signed["maximum"], "the amount is above the signed maximum")
    refuse_if(is_after(decided["at"], signed, is_end_allowed=False), "the signed end was before the payment")
    if decided["kind"] == "x402":
        refuse_if(signed["purchase_token"] is None, "the signed rules allow no purchases")
        valid_before = decided["valid_before"]
        is_late = signed["end"] is not None and valid_before is None
        is_late = is_late or (valid_before is not None and is_after(valid_before, signed, is_end_allowed=True))
        refuse_if(is_late, "the authorization is valid after the signed end")
    if signed["cap"] is None:
        return "no 24-hour limit was signed"
    refuse_if(decided["max_per_payment"] != str(signed["maximum"]), "the maximum of the payment is another one")
    refuse_if(decided["cap_24h"] != str(signed["cap"]), "the 24-hour limit of the payment is another one")
    spent = decided["spent_24h"]
    is_above = spent is None or int(spent) + amount > signed["cap"]
    refuse_if(is_above, "the amount is above what was left of the 24-hour limit")
    return "the signed limits"


def is_after(text, signed, is_end_allowed):
    if signed["end"] is None:
        return False
    time, end = as_time(text), signed["end"] * 1000
    return time > end if is_end_allowed else time >= end


# Did it happen on the chain?


def happened_on_chain(payment, signed, is_strange, rpc, transfers):
    refuse_if(payment.ended.values["status"] == "failed", "the payment failed")
    transfer = tuple(payment.ended.values[name] for name in ("tx_hash", "log_index"))
    if None not in transfer:
        transfer = (transfer[0].lower(), transfer[1])
        refuse_if(transfer in transfers, "a payment before in this export names the same transfer")
        transfers.add(transfer)
    skip_if(rpc is None, "no node was given")
    skip_if(payment.authority is None or signed is None, "nothing that was signed for this payment names the chain and the token")
    skip_if(is_strange, "the signature is not by an owner")
    names = ("tx_hash", "log_index", "block", "block_hash")
    is_named = all(payment.ended.values[name] is not None for name in names)
    skip_if(not is_named, "the file does not say which transaction paid")
    answer, reason = check_chain(rpc, payment, signed)
    if answer != YES:
        raise Answer(answer, reason)
    return reason
