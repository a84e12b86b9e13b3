"""Checks that a file is whole (docs/evidence.md, "Verifying a file", steps 1 to 6)."""

import base64
from dataclasses import dataclass, field, replace
from hashlib import sha256

import canonical_json
import p256
from forms import as_time, base64url, base64url_decode
from leaves import ACTORS, AUDITED, KINDS, LeafError, read_leaf
from notes import compute_root, read_checkpoint, read_key, read_note

FILE_FORMAT = "bursar-evidence/1"
LIST_FORMAT = "bursar-evidence-list/1"
LOGS_MAX = 100
LEAVES_MAX = 200
SIGNATURES_MAX = 200
SENTENCES = [
    "Who used the passkey, and whether that person understood what they signed.",
    "When the owner signed. The log shows only which leaves came before and after the signature.",
    "That the agent asked for the payment. The service, which holds the key for payments within the grant, could have made it.",
    "That the amount spent in the 24 hours before is complete. Other payments are not in this file.",
    "That the transfer on the chain was made for this payment only. The service could have named the same transfer in two files.",
    "That the grant was not suspended, stopped or revoked before the payment. The service could have left out such a leaf.",
    "That all changes of the owners are in this file, in the order in which they were made. The service could have left one out, or given it another time.",
    "That the times are right. They are those of the clock of the service.",
    "That the log is the only one. Only somebody who has kept another checkpoint of it can find out.",
    "That the enclave accepted and enforced the limits that the owner signed.",
]
MODES = ["test", "live"]
PRESENT_AND_VERIFIED = 0x05


class Invalid(Exception):
    def __init__(self, part, reason):
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


@dataclass
class Leaf:
    path: str
    # Where the leaf is: the number of its log, and its position there.
    place: tuple
    content: str
    values: dict
    texts: dict


@dataclass
class Signature:
    path: str
    values: dict
    challenge: bytes = b""
    leaf: Leaf = None

    @property
    def kind(self):
        return self.values["kind"]

    @property
    def passkey(self):
        """Anybody can copy the id of a credential, so it names no passkey alone."""
        return self.values["credential"], self.values["public_key"]

    @property
    def public_key(self):
        return base64url_decode(self.values["public_key"])

    @property
    def signed(self):
        statement = self.values["statement"]
        return self.challenge if statement is None else base64url_decode(statement)


@dataclass
class Payment:
    """A payment of which everything is in the file, and the parts of it by what they are."""

    decided: Leaf
    ended: Leaf = None
    answered: Leaf = None
    activated: Leaf = None
    suspended: Leaf = None
    revoked: Leaf = None
    authority: Signature = None
    resume: Signature = None
    # The changes of owners, the authority and the signature that resumed the grant, in the order of the file.
    signatures: list = field(default_factory=list)
    # The records of the wallet, by the passkeys that signed them.
    records: dict = field(default_factory=dict)

    def find_record(self, signature):
        return None if signature is None else self.records.get(signature.passkey)


def read_document(data, log_keys):
    """Returns the payments of a file or an export, and of an export how many are left out. Raises Invalid."""
    # Only an export ends with a newline.
    return read_list(data, log_keys) if data.endswith(b"\n") else read_file(data, log_keys)


def read_file(data, log_keys):
    value = parse(data, "file")
    names = ["format", "logs", "signatures", "does_not_prove", "seal"]
    check_members(value, names, "")
    check(value["format"] == FILE_FORMAT, "format", "is another format")
    check_list(value["logs"], "logs", 1, LOGS_MAX)
    for number, log in enumerate(value["logs"]):
        path = f"logs[{number}]"
        check_members(log, ["checkpoint", "key", "leaves"], path)
        check_log(log, path)
        is_last = number == len(value["logs"]) - 1
        check_list(log["leaves"], f"{path}.leaves", 0 if is_last else 1, LEAVES_MAX)
        check_leaf_forms(log["leaves"], f"{path}.leaves")
        for index, (leaf, earlier) in enumerate(zip(log["leaves"][1:], log["leaves"]), 1):
            is_later = leaf["position"] > earlier["position"]
            check(is_later, f"{path}.leaves[{index}].position", "is not above the position before")
    check_signature_forms(value["signatures"], "signatures")
    check_sentence_forms(value["does_not_prove"], "does_not_prove")
    check_text(value["seal"], "seal")

    keys, trees = check_logs(value["logs"], "logs", log_keys)
    leaves = []
    for number, log in enumerate(value["logs"]):
        for index, leaf in enumerate(log["leaves"]):
            leaves.append(check_leaf(leaf, f"logs[{number}].leaves[{index}]", number, trees[number]))
    check_positions(leaves, keys)
    signatures = check_signatures(value["signatures"], "signatures", leaves)
    payment = check_payment(leaves, signatures, "logs")

    check(value["does_not_prove"] == SENTENCES, "does_not_prove", "are other sentences")
    rest = canonical_json.canonical({name: value[name] for name in names if name != "seal"})
    check_seal(value["seal"], "seal", keys[-1], FILE_FORMAT, rest)
    return [payment], None


def read_list(data, log_keys):
    *lines, _ = data.split(b"\n")
    check(len(lines) >= 2, "file", "has fewer than two lines")
    first = parse(lines[0], "lines[0]")
    check_members(first, ["format", "logs", "does_not_prove"], "lines[0]")
    check(first["format"] == LIST_FORMAT, "lines[0].format", "is another format")
    check_list(first["logs"], "lines[0].logs", 1, LOGS_MAX)
    for number, log in enumerate(first["logs"]):
        check_members(log, ["checkpoint", "key"], f"lines[0].logs[{number}]")
        check_log(log, f"lines[0].logs[{number}]")
    check_sentence_forms(first["does_not_prove"], "lines[0].does_not_prove")
    keys, trees = check_logs(first["logs"], "lines[0].logs", log_keys)
    check(first["does_not_prove"] == SENTENCES, "lines[0].does_not_prove", "are other sentences")

    shared, payments = {}, {}
    for number, line in enumerate(lines[1:-1], 1):
        read_line(line, f"lines[{number}]", keys, trees, shared, payments)
    path = f"lines[{len(lines) - 1}]"
    last = parse(lines[-1], path)
    check_members(last, ["left_out", "seal"], path)
    check(is_number(last["left_out"]), f"{path}.left_out", "is no number")
    check_text(last["seal"], f"{path}.seal")
    sealed = data[: data.rindex(b',"seal":')]
    check_seal(last["seal"], f"{path}.seal", keys[-1], LIST_FORMAT, sealed)
    return list(payments.values()), last["left_out"]


def read_line(line, path, keys, trees, shared, payments):
    """Reads a line of an export: what payments share, or a payment."""
    value = parse(line, path)
    check_members(value, ["authority", "leaves", "signatures"], path)
    check_text(value["authority"], f"{path}.authority")
    check_list(value["leaves"], f"{path}.leaves", 0, LEAVES_MAX)
    check_leaf_forms(value["leaves"], f"{path}.leaves", len(trees))
    for index, (leaf, earlier) in enumerate(zip(value["leaves"][1:], value["leaves"]), 1):
        is_later = (leaf["log"], leaf["position"]) > (earlier["log"], earlier["position"])
        check(is_later, f"{path}.leaves[{index}].position", "is not above the position before")
    check_signature_forms(value["signatures"], f"{path}.signatures")
    is_first = value["authority"] not in shared
    check(is_first or value["signatures"] == [], f"{path}.signatures", "are in the line of a payment")
    leaves = [
        check_leaf(leaf, f"{path}.leaves[{index}]", leaf["log"], trees[leaf["log"]])
        for index, leaf in enumerate(value["leaves"])
    ]
    signatures = check_signatures(value["signatures"], f"{path}.signatures", leaves)
    is_payment = any(leaf.values["type"] == "payment.decided" for leaf in leaves)
    check(is_payment != is_first, f"{path}.leaves", "are not those of such a line")
    if is_first:
        shared[value["authority"]] = (leaves, signatures)
        return
    all_leaves, signatures = shared[value["authority"]]
    all_leaves = sorted([*all_leaves, *leaves], key=lambda leaf: leaf.place)
    check_positions(all_leaves, keys)
    # The line of a payment may contain the leaf of a signature that is in the first line.
    signatures = place_signatures(signatures, all_leaves)
    payment = check_payment(all_leaves, signatures, f"{path}.leaves")
    subject = payment.decided.values["subject"]
    check(subject not in payments, f"{path}.leaves", "is a payment of a line before")
    payments[subject] = payment


# Step 1: forms.


def check(condition, part, reason):
    if not condition:
        raise Invalid(part, reason)


def parse(data, path):
    try:
        return canonical_json.parse(data)
    except ValueError as error:
        raise Invalid(path, f"is not canonical JSON ({error})") from None


def check_members(value, names, path):
    check(isinstance(value, dict), path or "file", "is no object")
    check(set(value) <= set(names), path or "file", "has another member")
    for name in names:
        check(name in value, f"{path}.{name}" if path else name, "is missing")


def check_list(value, path, least, most):
    check(isinstance(value, list) and least <= len(value) <= most, path, f"is no list of {least} to {most}")


def check_text(value, path):
    check(isinstance(value, str), path, "is no text")


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def check_bytes(value, path, length=None):
    data = base64url_decode(value)
    check(data is not None, path, "is not base64url")
    check(length is None or len(data) == length, path, f"has not {length} bytes")


def check_log(log, path):
    check_text(log["checkpoint"], f"{path}.checkpoint")
    check_text(log["key"], f"{path}.key")


def check_leaf_forms(leaves, path, logs=None):
    for index, leaf in enumerate(leaves):
        one = f"{path}[{index}]"
        check_members(leaf, [*([] if logs is None else ["log"]), "content", "position", "proof", "texts"], one)
        if logs is not None:
            check(is_number(leaf["log"]) and leaf["log"] < logs, f"{one}.log", "is no number of a log")
        check_text(leaf["content"], f"{one}.content")
        check(is_number(leaf["position"]), f"{one}.position", "is no number")
        check(isinstance(leaf["proof"], list), f"{one}.proof", "is no list")
        for number, node in enumerate(leaf["proof"]):
            check_bytes(node, f"{one}.proof[{number}]", 32)
        check(isinstance(leaf["texts"], dict), f"{one}.texts", "is no object")
        for name, text in leaf["texts"].items():
            check(text is None or isinstance(text, str), f"{one}.texts.{name}", "is no text")


def check_signature_forms(signatures, path):
    check_list(signatures, path, 0, SIGNATURES_MAX)
    names = ["workspace", "mode", "kind", "subject", "assertion", "statement", "credential", "public_key"]
    more = ["relying_party", "origin", "user", "registered_at", "registration", "received_at", "actor"]
    received = ""
    for index, signature in enumerate(signatures):
        one = f"{path}[{index}]"
        check_members(signature, [*names, *more], one)
        check_text(signature["workspace"], f"{one}.workspace")
        check(signature["mode"] in MODES, f"{one}.mode", "is no mode")
        check(signature["kind"] in KINDS, f"{one}.kind", "is no kind")
        check_text(signature["subject"], f"{one}.subject")
        parts = ["authenticator_data", "client_data_json", "signature"]
        check_members(signature["assertion"], parts, f"{one}.assertion")
        for name in parts:
            check_bytes(signature["assertion"][name], f"{one}.assertion.{name}")
        if signature["statement"] is not None:
            check_bytes(signature["statement"], f"{one}.statement")
        check_bytes(signature["credential"], f"{one}.credential")
        check_bytes(signature["public_key"], f"{one}.public_key", 91)
        is_spki = base64url_decode(signature["public_key"]).startswith(p256.SPKI_PREFIX)
        check(is_spki, f"{one}.public_key", "is no SPKI of a key on P-256")
        for name in ("relying_party", "origin", "user"):
            check_text(signature[name], f"{one}.{name}")
        check(as_time(signature["registered_at"]) is not None, f"{one}.registered_at", "is no time")
        registration = signature["registration"]
        if registration is not None:
            check_members(registration, ["attestation_object", "client_data_json"], f"{one}.registration")
            for name in ("attestation_object", "client_data_json"):
                check_bytes(registration[name], f"{one}.registration.{name}")
        check(as_time(signature["received_at"]) is not None, f"{one}.received_at", "is no time")
        check(received <= signature["received_at"], f"{one}.received_at", "is before the one before")
        received = signature["received_at"]
        check_members(signature["actor"], ["kind", "id"], f"{one}.actor")
        check(signature["actor"]["kind"] in ACTORS, f"{one}.actor.kind", "is no kind")
        actor = signature["actor"]["id"]
        check(actor is None or isinstance(actor, str), f"{one}.actor.id", "is no text")


def check_sentence_forms(sentences, path):
    check(isinstance(sentences, list), path, "is no list")
    for index, sentence in enumerate(sentences):
        check_text(sentence, f"{path}[{index}]")


# Steps 2 to 4: logs, leaves and signatures.


def check_logs(logs, path, log_keys):
    """Returns the keys of the logs, and the sizes and roots of their trees."""
    keys, trees = [], []
    for number, log in enumerate(logs):
        key = read_key(log["key"])
        check(key is not None, f"{path}[{number}].key", "is no verifier key")
        is_known = not log_keys or public_key_of(log["key"]) in map(public_key_of, log_keys)
        check(is_known, f"{path}[{number}].key", "is none of the given keys")
        tree = read_checkpoint(log["checkpoint"], key)
        check(tree is not None, f"{path}[{number}].checkpoint", "is no checkpoint of this key")
        for earlier, name in enumerate(one[0] for one in keys):
            if name == key[0]:
                check(logs[earlier]["key"] == log["key"], f"{path}[{number}].key", "is another key of the same log")
                is_same = logs[earlier]["checkpoint"] == log["checkpoint"]
                check(is_same, f"{path}[{number}].checkpoint", "is another checkpoint of the same log")
        keys.append(key)
        trees.append(tree)
    return keys, trees


def public_key_of(verifier_key):
    """Returns the last part of a verifier key. A restored log has another name, but the same public key."""
    return verifier_key.split("+", 2)[-1]


def check_positions(leaves, keys):
    """Checks that a log which occurs again has higher positions."""
    highest = {}
    for leaf in leaves:
        log, position = leaf.place
        name = keys[log][0]
        check(position > highest.get(name, -1), f"{leaf.path}.position", "is not above those in the same log before")
        highest[name] = position


def check_leaf(leaf, path, log, tree):
    size, root = tree
    try:
        values = read_leaf(leaf["content"], leaf["texts"])
    except LeafError as error:
        raise Invalid(f"{path}.{error.part}", error.reason) from None
    check(leaf["position"] < size, f"{path}.position", "is not in the tree")
    proof = [base64url_decode(node) for node in leaf["proof"]]
    leads = compute_root(leaf["content"].encode(), leaf["position"], size, proof) == root
    check(leads, f"{path}.proof", "does not lead to the root")
    return Leaf(path, (log, leaf["position"]), leaf["content"], values, leaf["texts"])


def check_signatures(entries, path, leaves):
    signatures = []
    for index, entry in enumerate(entries):
        signature = Signature(f"{path}[{index}]", entry)
        check_assertion(signature)
        signatures += place_signatures([signature], leaves)
    return signatures


def place_signatures(signatures, leaves):
    """Returns the signatures with their leaves. Of two leaves with the same subject, the first counts."""
    by_subject = {leaf.values["subject"]: leaf for leaf in reversed(leaves) if leaf.values["type"] == "signature"}
    placed = [replace(signature, leaf=by_subject.get(subject_of(signature))) for signature in signatures]
    for signature in placed:
        if signature.leaf is not None:
            check_signature_leaf(signature)
    return placed


def subject_of(signature):
    return f"{signature.values['credential']} {base64url(sha256(signature.challenge).digest())}"


def check_assertion(signature):
    values, path = signature.values, f"{signature.path}.assertion"
    assertion = {name: base64url_decode(text) for name, text in values["assertion"].items()}
    client_data = assertion["client_data_json"]
    signature.challenge = read_challenge(client_data, values["origin"], f"{path}.client_data_json")
    if values["statement"] is not None:
        is_hash = sha256(base64url_decode(values["statement"])).digest() == signature.challenge
        check(is_hash, f"{signature.path}.statement", "is not what was signed")
    authenticator_data = assertion["authenticator_data"]
    is_party = authenticator_data[:32] == sha256(values["relying_party"].encode()).digest()
    check(is_party and len(authenticator_data) >= 37, f"{path}.authenticator_data", "is of another relying party")
    is_verified = authenticator_data[32] & PRESENT_AND_VERIFIED == PRESENT_AND_VERIFIED
    check(is_verified, f"{path}.authenticator_data", "does not say that the user was verified")
    point = p256.read_public_key(signature.public_key)
    check(point is not None, f"{signature.path}.public_key", "is no point of the curve")
    signed = authenticator_data + sha256(client_data).digest()
    check(p256.verify(point, signed, assertion["signature"]), f"{path}.signature", "is not by the public key")


def read_challenge(client_data, origin, path):
    try:
        value = canonical_json.parse_unique(client_data)
    except ValueError as error:
        raise Invalid(path, f"is not JSON, or not unique ({error})") from None
    check(isinstance(value, dict), path, "is no object")
    check(value.get("type") == "webauthn.get", path, "has another type")
    check(value.get("origin") == origin, path, "has another origin")
    check(value.get("crossOrigin", False) is False, path, "is of a page within another page")
    challenge = base64url_decode(value.get("challenge"))
    check(challenge is not None, path, "has no challenge in base64url")
    return challenge


def check_signature_leaf(signature):
    values, leaf = signature.values, signature.leaf.values
    digest = sha256(canonical_json.canonical(values)).digest()
    check(leaf["signature_sha256"] == base64url(digest), signature.path, "is not the one in its leaf")
    names = {"kind": "kind", "mode": "mode", "workspace": "workspace", "object": "subject", "credential": "credential"}
    for name, member in names.items():
        check(leaf[name] == values[member], signature.path, "is not the one in its leaf")


# Step 5: which leaves and signatures the file may contain.


def check_payment(leaves, signatures, logs_path):
    decided = [leaf for leaf in leaves if leaf.values["type"] == "payment.decided"]
    check(decided != [], logs_path, "have no payment.decided")
    payment = Payment(decided[0])
    subjects = [subject_of(signature) for signature in signatures]
    for leaf in leaves:
        check(is_allowed_leaf(leaf, payment, signatures), leaf.path, "does not belong to the payment")
    is_ordered = payment.suspended is None or payment.activated is None
    is_ordered = is_ordered or payment.activated.place < payment.suspended.place
    check(is_ordered, "" if payment.suspended is None else payment.suspended.path, "is before grant.activated")
    check(payment.ended is not None, logs_path, "have no payment.ended")
    for index, signature in enumerate(signatures):
        check(subjects[index] not in subjects[:index], signature.path, "occurs twice")
        check(is_allowed_signature(signature, payment), signature.path, "does not belong to the payment")
    signers = [one.passkey for one in signatures if one is payment.authority or one.kind == "owners"]
    for signature in signatures:
        is_needed = signature.kind != "record" or signature.passkey in signers
        check(is_needed, signature.path, "is not by a passkey that signed the payment or a change of owners")
    payment.signatures = signatures
    return payment


def is_allowed_leaf(leaf, payment, signatures):
    """Returns whether the payment may have this leaf, and keeps it."""
    values, decided = leaf.values, payment.decided.values
    kind = values["type"]
    if values["workspace"] != decided["workspace"]:
        return False
    if values["mode"] != decided["mode"] and (kind != "audit" or values["mode"] is not None):
        return False
    if kind == "payment.decided":
        return leaf is payment.decided
    if kind == "signature":
        return any(signature.leaf is leaf for signature in signatures)
    if kind == "audit":
        role = AUDITED.get(values["action"])
        return role is not None and is_of_grant(leaf, payment) and keep(payment, role, leaf)
    if values["subject"] != decided["subject"]:
        return False
    if kind == "payment.ended":
        return keep(payment, "ended", leaf)
    return kind == "purchase.answered" and decided["kind"] == "x402" and keep(payment, "answered", leaf)


def is_of_grant(leaf, payment):
    values, decided = leaf.values, payment.decided.values
    if decided["grant"] is None or decided["kind"] == "withdrawal":
        return False
    if AUDITED[values["action"]] == "suspended" and not leaf.place < payment.decided.place:
        return False
    if values["action"] != "agents.stopped":
        return values["object"] == decided["grant"]
    if leaf.texts["details"] is None:
        return True
    details = canonical_json.parse(leaf.texts["details"].encode())
    if details.get("mode", decided["mode"]) != decided["mode"]:
        return False
    if details.get("agent_id", decided["agent"]) != decided["agent"]:
        return False
    wallet = details.get("wallet", decided["wallet"])
    return isinstance(wallet, str) and wallet.lower() == decided["wallet"].lower()


def is_allowed_signature(signature, payment):
    values, decided = signature.values, payment.decided.values
    kind, subject = values["kind"], values["subject"]
    if values["workspace"] != decided["workspace"] or values["mode"] != decided["mode"]:
        return False
    if (values["statement"] is not None) != (kind == "resume"):
        return False
    is_withdrawal = decided["kind"] == "withdrawal"
    has_grant = decided["grant"] is not None and not is_withdrawal
    if kind == "grant":
        return has_grant and subject == decided["grant"] and keep(payment, "authority", signature)
    if kind == "withdrawal":
        return is_withdrawal and subject == decided["subject"] and keep(payment, "authority", signature)
    if kind == "resume":
        return has_grant and keep(payment, "resume", signature)
    if subject.lower() != decided["wallet"].lower():
        return False
    if kind == "record" and signature.passkey not in payment.records:
        payment.records[signature.passkey] = signature
        return True
    return kind == "owners"


def keep(payment, role, part):
    if getattr(payment, role) is not None:
        return False
    setattr(payment, role, part)
    return True


# Step 6.


def check_seal(seal, path, key, file_format, rest):
    digest = base64.b64encode(sha256(rest).digest()).decode()
    check(read_note(seal, key) == f"{file_format}\n{digest}\n", path, "is not the seal of the file")
