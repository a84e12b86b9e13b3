-- The transparency log (D80) also says which signatures of owners the service has received, and what sellers responded to
-- purchases. A file with evidence contains these signatures and responses.

lock table log_queue, owner_signatures, purchases in access exclusive mode;

alter table log_queue drop constraint log_queue_type_check;
-- The subject of a signature is the id of its credential, a space, and `challenge_sha256` in base64url. That of a seller's
-- response is the id of the payment.
alter table log_queue add constraint log_queue_type_check
  check (type in ('audit', 'payment.decided', 'payment.ended', 'signature', 'purchase.answered'));

-- The SHA-256 of the signature as a file with evidence contains it. It is computed when the signature is stored, so the log
-- can contain it while the signature is still encrypted. Null if the signature was stored before this column existed.
alter table owner_signatures add column entry_sha256 bytea check (octet_length(entry_sha256) = 32);
create index owner_signatures_by_subject
  on owner_signatures (workspace_id, mode, subject, received_at, credential_id, challenge_sha256);

-- What the log says about the seller's response: `at`, `status`, `delivery`, the SHA-256 of the body, and the offer and the
-- receipt that the seller has signed. It is the first response that arrived completely, also if a later one replaces it in
-- the other columns. Null if there is none, or if it arrived before this column existed.
alter table purchases add column first_answer json;
