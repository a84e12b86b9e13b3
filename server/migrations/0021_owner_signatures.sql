-- What proves that an owner allowed something (D78): each signature of a wallet passkey, with what is needed to check it
-- years later without this service.

lock table workspaces, wallet_passkeys in access exclusive mode;

-- What the browser returned when the passkey was registered: `attestationObject` and `clientDataJSON`, in base64url. Null
-- for a passkey that was registered before this column existed.
alter table wallet_passkeys add column registration jsonb;

-- One row for each request or statement and each passkey that signed it. The rows are never deleted, and contain copies
-- of what they need of a passkey and its person, so that these can be deleted.
create table owner_signatures (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('grant', 'revocation', 'resume', 'owners', 'withdrawal', 'record')),
  -- The grant, or the stop that is resumed, the payment of a withdrawal, or the address of the wallet whose owners or
  -- record were signed.
  subject text not null,
  -- The passkey that signed: its id and its person, its public key as SPKI DER, its registration, and when that was.
  credential_id text not null,
  user_id text not null,
  public_key bytea not null,
  registration jsonb,
  registered_at timestamptz not null,
  -- Where the passkey was used.
  relying_party_id text not null,
  origin text not null,
  -- When the service received the signature, and from whom. This need not be the person whose passkey signed.
  received_at timestamptz not null,
  received_from jsonb not null,
  -- The SHA-256 of the WebAuthn challenge. A challenge is the request itself, or the hash of `statement`.
  challenge_sha256 bytea not null check (octet_length(challenge_sha256) = 32),
  statement bytea,
  -- Until then, somebody might use the signature again. Null if it is the signature of a statement that allows nothing.
  usable_until timestamptz,
  -- The signature: `authenticatorData`, `clientDataJSON` and `signature`, in base64url. Encrypted while somebody might
  -- use it again, and empty if the key that encrypted it was lost before that time had passed.
  assertion_sealed bytea,
  assertion jsonb,
  primary key (workspace_id, credential_id, challenge_sha256),
  check (num_nonnulls(assertion_sealed, assertion) = 1),
  check (assertion_sealed is null or usable_until is not null)
);
create index owner_signatures_sealed
  on owner_signatures (usable_until, workspace_id, credential_id, challenge_sha256) where assertion_sealed <> '';
