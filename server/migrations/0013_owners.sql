-- Owners sign the terms of a grant, wallet passkeys own wallets, and owners withdraw money (decision 0034). The new
-- constraints of large tables are validated in 0014, and their indexes are built there.

lock table wallets, grants, payments, ceremonies in access exclusive mode;

-- A passkey that owns wallets. It is created and used on the signer page, under that page's relying party id, and
-- belongs to a person, not to a workspace.
create table wallet_passkeys (
  -- A person who never joined a workspace is deleted after a time, with everything of theirs.
  user_id text not null references users (id) on delete cascade,
  -- The base64url that WebAuthn gives it.
  credential_id text primary key,
  -- The COSE key from the registration. Always ES256, because the enclave verifies only P-256 signatures.
  public_key bytea not null,
  name text not null check (char_length(name) between 1 and 100),
  transports text[] not null,
  created_at timestamptz not null
);
create index wallet_passkeys_by_user on wallet_passkeys (user_id, created_at);

-- The wallet passkeys that own a wallet: at the enclave, the members of its owner quorum, any one of which may sign. The
-- row of a removed owner is deleted; the audit log keeps the fact.
create table wallet_owners (
  account_id text not null,
  mode text not null,
  wallet_address text not null,
  credential_id text not null references wallet_passkeys (credential_id),
  added_at timestamptz not null,
  -- The owner's signature on the wallet's record. Null until the owner has signed it.
  record_assertion jsonb,
  primary key (account_id, mode, wallet_address, credential_id),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address)
);
create index wallet_owners_of_passkey on wallet_owners (credential_id);

-- The policies of a wallet at the enclave, each with the one signer that it limits. They are created with the wallet,
-- belong to its owner, and deny everything until an owner signs rules for them. A grant is the content of a slot.
create table wallet_slots (
  account_id text not null,
  mode text not null,
  wallet_address text not null,
  slot smallint not null check (slot between 1 and 50),
  enclave_policy_id text not null unique,
  signer_id text not null unique,
  -- Sealed under the server's key, bound to this row.
  signer_private_key_sealed bytea not null,
  primary key (account_id, mode, wallet_address, slot),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address)
);

-- What an owner was asked to sign, apart from changes of grants. The signature itself is never stored.
create table owner_requests (
  account_id text not null,
  id text not null,
  mode text not null,
  wallet_address text not null,
  kind text not null check (kind in ('add_owner', 'remove_owner', 'move', 'withdraw')),
  details jsonb not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- Null for a request that the operator prepared.
  created_by text references users (id),
  -- Who submitted the signature. Recorded before it is sent.
  submitted_by jsonb,
  done_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address),
  check (expires_at > created_at),
  check (done_at is null or submitted_by is not null)
);
create index owner_requests_by_end on owner_requests (expires_at);
create index owner_requests_of_creator on owner_requests (created_by) where created_by is not null;

alter table wallets
  -- Set for a wallet that was created before wallet passkeys existed and has not been moved: a sign-in passkey owns it.
  alter column owner_credential_id drop not null,
  alter column owner_public_key drop not null,
  add constraint wallets_owner_check check ((owner_credential_id is null) = (owner_public_key is null)) not valid;

alter table grants
  -- The slot whose policy has this grant's rules. Null for a grant of a wallet without slots, which has a policy of its own.
  add column slot smallint,
  alter column enclave_policy_id drop not null,
  add constraint grants_policy_check check ((slot is null) = (enclave_policy_id is not null)) not valid,
  add constraint grants_slot_fkey foreign key (account_id, mode, wallet_address, slot)
    references wallet_slots (account_id, mode, wallet_address, slot) not valid;

alter table payments
  add column kind text not null default 'transfer',
  alter column agent_id drop not null,
  alter column grant_id drop not null,
  alter column max_per_tx_micro drop not null,
  alter column daily_cap_micro drop not null,
  alter column spent_24h_micro drop not null,
  add constraint payments_kind_check check (kind in ('transfer', 'withdrawal')) not valid,
  -- A transfer was admitted for an agent under the limits of a grant. An owner's withdrawal has no agent, no grant and
  -- no limits, and uses none of the plan's allowance.
  add constraint payments_members_check check (
    case kind
      when 'transfer' then num_nulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro) = 0
      else num_nonnulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro, allowance_month) = 0
    end
  ) not valid,
  -- Only transfers in live mode use the plan's allowance. The old constraint demanded it of every payment in live mode.
  drop constraint payments_check6,
  add constraint payments_allowance_check check (
    (mode = 'live' and kind = 'transfer') = (allowance_month is not null)
  ) not valid,
  -- An owner signs a withdrawal once, and the service does not keep the signature.
  add constraint payments_sent_once_check check (kind = 'transfer' or attempt = 1) not valid;

alter table ceremonies
  drop constraint ceremonies_kind_check,
  add constraint ceremonies_kind_check
    check (kind in ('sign_up', 'sign_in', 'verification', 'passkey', 'wallet_passkey'));
