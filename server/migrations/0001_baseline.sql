-- The schema of version 0.2.0. Everything that a later version changes is in a file of its own, with a higher number.
--
-- What holds for all tables:
--
-- - The primary key of everything that belongs to a workspace begins with the workspace's id. Ids sort by the time at
--   which they were made, so a list in the order of ids needs no other index.
-- - The service makes the ids and the times. The schema has no sequences, and no default reads the database's clock. So
--   the same schema runs on PostgreSQL-compatible distributed databases, and the sandbox can move the time.
-- - Money is in micro-USDC, as numeric(22, 0): amounts of up to 10^15 USDC (D19) do not fit a bigint.
-- - Of a secret that only has to be recognized, the SHA-256 is stored. A secret that the service itself needs again is
--   encrypted under the server's key and bound to its row. Its column ends in `_sealed`.
-- - `mode` is `test` or `live`.

------------------------------------------------------------------------------------------------------------------------
-- Workspaces and people

-- A workspace.
create table workspaces (
  id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('developer', 'pro', 'scale')),
  created_at timestamptz not null
);

-- The number of live payments of a workspace in one calendar month (UTC), which its plan limits (D27). A payment locks
-- the row, so the number is exact.
create table allowances (
  workspace_id text not null references workspaces (id),
  month date not null check (extract(day from month) = 1),
  used bigint not null default 0 check (used >= 0),
  primary key (workspace_id, month)
);

-- A person who signs in to the dashboard.
create table users (
  id text primary key,
  name text not null check (char_length(name) between 1 and 100),
  -- WebAuthn's user handle. It is random, so it says nothing about the person.
  user_handle bytea not null unique check (length(user_handle) = 32),
  created_at timestamptz not null,
  -- When the person first belonged to a workspace. Until then it is null, the audit log has no entry about the person,
  -- and the person is deleted after 30 days.
  joined_at timestamptz
);
create index users_never_joined on users (created_at) where joined_at is null;

-- A passkey with which a person signs in. It owns no wallet.
create table passkeys (
  user_id text not null references users (id),
  credential_id text not null,
  name text not null,
  public_key_cose bytea not null,
  -- The signature counter of WebAuthn. If it goes back, the passkey may have been copied.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (credential_id)
);
create index passkeys_by_user on passkeys (user_id, created_at);

-- A code with which a person can sign in once without a passkey (D46). New codes replace all codes of the person.
create table recovery_codes (
  user_id text not null references users (id),
  code_hash bytea not null check (length(code_hash) = 32),
  created_at timestamptz not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);
create unique index recovery_codes_by_hash on recovery_codes (code_hash);

-- A browser in which a person is signed in (D47). The row is deleted when the session ends.
create table sessions (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  user_id text not null references users (id),
  created_at timestamptz not null,
  -- The session also ends when it was not used for a while.
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the person last used a passkey or a recovery code.
  verified_at timestamptz not null,
  -- The name that the browser gives itself.
  device text not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_end on sessions (expires_at);

-- A WebAuthn challenge that waits for its response. The first response deletes it.
create table ceremonies (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  kind text not null check (kind in ('sign_up', 'sign_in', 'verification', 'passkey', 'wallet_passkey')),
  challenge text not null,
  user_id text references users (id),
  -- For a new person: the name, and the user handle in base64url.
  data jsonb,
  expires_at timestamptz not null
);
create index ceremonies_by_end on ceremonies (expires_at);
-- When a person is deleted, PostgreSQL looks for rows that refer to the person. Without this index, and others like it,
-- it would read the whole table.
create index ceremonies_of_user on ceremonies (user_id) where user_id is not null;

-- A person in a workspace.
create table members (
  workspace_id text not null references workspaces (id),
  user_id text not null references users (id),
  role text not null check (role in ('owner', 'admin', 'viewer')),
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);
create index members_by_user on members (user_id);

-- A link with which people join a workspace.
create table invitations (
  workspace_id text not null references workspaces (id),
  id text not null,
  secret_hash bytea not null check (length(secret_hash) = 32),
  role text not null check (role in ('owner', 'admin', 'viewer')),
  uses_left integer not null check (uses_left >= 0),
  -- Null if the operator made it.
  created_by text references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (workspace_id, id)
);
create unique index invitations_by_secret_hash on invitations (secret_hash);
create index invitations_of_creator on invitations (created_by) where created_by is not null;

-- Who did what (D48). Each workspace, each user and each OAuth client has a log, and `log_id` is its id.
create table audit_entries (
  log_id text not null,
  id text not null,
  created_at timestamptz not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'client', 'operator')),
  actor_id text,
  action text not null,
  -- The id of what was changed. Never a secret.
  subject text,
  details jsonb not null,
  primary key (log_id, id),
  check ((actor_kind = 'operator') = (actor_id is null))
);

-- The database itself refuses to change the log, so no mistake in the service can do it.
create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_entries_are_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change_of_audit();

------------------------------------------------------------------------------------------------------------------------
-- Agents and wallets

-- An agent: a name under which software pays. A deleted agent's row stays, because grants and payments refer to it. If
-- an agent with the same id is created again, it uses the same row, so what it spent before still counts.
create table agents (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  id text not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  primary key (workspace_id, mode, id)
);

-- An address that holds USDC. The enclave has its key, and wallet passkeys own it.
create table wallets (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  name text not null,
  enclave_wallet_id text not null unique,
  -- The enclave's group of passkeys, any one of which may sign for the wallet. `wallet_owners` has its members.
  owner_quorum_id text not null,
  created_at timestamptz not null,
  -- While a process changes the wallet at the enclave, no other process starts a change. Ends by itself.
  signer_change_until timestamptz,
  primary key (workspace_id, mode, address)
);
create unique index wallets_by_address on wallets (address);
-- All wallets of a mode, page by page, to look for their deposits.
create index wallets_of_mode on wallets (mode, address);

-- A passkey that owns wallets. It is created and used on the signer page only, under that page's relying party id. It
-- belongs to a person, not to a workspace.
create table wallet_passkeys (
  -- A person who never joined a workspace is deleted after a time, with these passkeys.
  user_id text not null references users (id) on delete cascade,
  -- In base64url, as WebAuthn returns it.
  credential_id text primary key,
  -- The COSE key from the registration. Always ES256, because the enclave verifies only P-256 signatures.
  public_key bytea not null,
  name text not null check (char_length(name) between 1 and 100),
  transports text[] not null,
  created_at timestamptz not null,
  -- The highest signature counter that the service saw, and when it last saw one. If a counter goes back, the passkey
  -- may have been copied. 0 stands for a passkey that does not count, and for one that was not used yet.
  counter bigint not null default 0,
  counted_at timestamptz
);
create index wallet_passkeys_by_user on wallet_passkeys (user_id, created_at);

-- A wallet passkey that owns a wallet. The row of a removed owner is deleted; the audit log keeps the fact.
create table wallet_owners (
  workspace_id text not null,
  mode text not null,
  wallet_address text not null,
  credential_id text not null references wallet_passkeys (credential_id),
  added_at timestamptz not null,
  -- The owner's signature on the wallet's record. Null until the owner has signed it.
  record_assertion jsonb,
  primary key (workspace_id, mode, wallet_address, credential_id),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address)
);
create index wallet_owners_of_passkey on wallet_owners (credential_id);

-- A place for one grant: a policy of the wallet at the enclave, and the one signer that the policy limits. All slots are
-- created with the wallet. A slot's policy belongs to the wallet's owner, and denies everything until an owner signs
-- rules for it (decision 0034).
create table wallet_slots (
  workspace_id text not null,
  mode text not null,
  wallet_address text not null,
  slot smallint not null check (slot between 1 and 50),
  enclave_policy_id text not null unique,
  signer_id text not null unique,
  signer_private_key_sealed bytea not null,
  primary key (workspace_id, mode, wallet_address, slot),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address)
);

-- A change of a wallet's owners, or a withdrawal, that an owner was asked to sign. The signature is never stored.
create table owner_requests (
  workspace_id text not null,
  id text not null,
  mode text not null,
  wallet_address text not null,
  kind text not null check (kind in ('add_owner', 'remove_owner', 'withdraw')),
  details jsonb not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- Null if the operator prepared it.
  created_by text references users (id),
  -- Who submitted the signature. Stored before the signature is sent.
  submitted_by jsonb,
  done_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address),
  check (expires_at > created_at),
  check (done_at is null or submitted_by is not null)
);
create index owner_requests_by_end on owner_requests (expires_at);
create index owner_requests_of_creator on owner_requests (created_by) where created_by is not null;
-- Without the withdrawals, so that a wallet with many withdrawals does not slow down a change of its owners.
create index owner_requests_open on owner_requests (workspace_id, mode, wallet_address, id)
  where kind <> 'withdraw' and done_at is null;

-- The name that a workspace gives to an address that it pays.
create table recipients (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  label text not null check (char_length(label) between 1 and 100),
  created_at timestamptz not null,
  primary key (workspace_id, mode, address)
);

------------------------------------------------------------------------------------------------------------------------
-- API keys, and rate limits

create table api_keys (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz not null,
  -- Until then, a key that was rotated still works.
  grace_until timestamptz,
  revoked_at timestamptz,
  name text not null default '' check (char_length(name) <= 100),
  -- Null if the operator made it.
  created_by text references users (id),
  -- The only agent as which the key may pay. Null if it may pay as every agent.
  agent_id text,
  -- What the key may do. Null means all scopes, including those that are added later.
  scopes text[] check (cardinality(scopes) > 0 and scopes <@ array['wallet:read', 'wallet:transfer', 'x402:pay']),
  -- The last characters of the secret, by which people recognize the key.
  last4 text not null check (last4 ~ '^[0-9A-Za-z]{4}$'),
  -- The restore after which the key was held, by its time. Null if the key never was. A key that was revoked after the
  -- backup would otherwise work again (D96).
  held_at timestamptz,
  -- When an owner confirmed the key. While `held_at` is set and this is null, the key gives no access.
  confirmed_at timestamptz,
  primary key (workspace_id, id),
  constraint api_keys_agent_fkey foreign key (workspace_id, mode, agent_id) references agents (workspace_id, mode, id),
  constraint api_keys_confirmed_check check (confirmed_at is null or held_at is not null)
);
create unique index api_keys_by_secret_hash on api_keys (secret_hash);
create index api_keys_listed on api_keys (workspace_id, mode, id);
-- A workspace may have revoked any number of keys, and has few others.
create index api_keys_not_revoked on api_keys (workspace_id, mode, id) where revoked_at is null;
create index api_keys_of_creator on api_keys (created_by) where created_by is not null;
create index api_keys_held on api_keys (workspace_id, id)
  where held_at is not null and confirmed_at is null and revoked_at is null;

-- The last requests of one caller that a rate limit (its bucket) counted: their times in Unix milliseconds, at most as
-- many as the limit. Each request rewrites the row, so the pages have free space.
create table rate_windows (
  subject bytea not null,
  bucket text not null,
  hits bigint[] not null default '{}',
  primary key (subject, bucket)
) with (fillfactor = 50);

-- The same for subjects that anybody can make up, such as an address. The first attempt creates the row. It is deleted
-- after its end, which moves in whole hours, so that counting rarely changes the index.
create table attempt_windows (
  subject bytea not null,
  bucket text not null,
  hits bigint[] not null,
  expires_at timestamptz not null,
  primary key (subject, bucket)
) with (fillfactor = 50);
create index attempt_windows_by_end on attempt_windows (expires_at);

------------------------------------------------------------------------------------------------------------------------
-- Grants

-- The permission for one agent to spend from one wallet, under terms that an owner signed. Its rules are in the policy
-- of its slot at the enclave.
create table grants (
  workspace_id text not null,
  id text not null,
  mode text not null,
  agent_id text not null,
  wallet_address text not null,
  max_per_tx_micro numeric(22, 0) not null check (max_per_tx_micro > 0),
  daily_cap_micro numeric(22, 0) not null check (daily_cap_micro > 0),
  recipient_allowlist text[] not null,
  contract_allowlist text[] not null check (cardinality(contract_allowlist) > 0),
  expires_at timestamptz,
  status text not null check (status in ('pending', 'active', 'revoked')),
  -- The request that the owner is asked to sign, and until when it may be signed (D15). Never the signature.
  signing_request jsonb,
  created_at timestamptz not null,
  activated_at timestamptz,
  suspended_at timestamptz,
  revoked_at timestamptz,
  -- The grant that this one replaces when it is signed, and the grant that has replaced this one (D14).
  replaces text,
  replaced_by text,
  -- Who submitted the owner's signature. Null if the operator did.
  activated_by text references users (id),
  slot smallint not null,
  -- Whether the grant allows purchases (D67). If so, its policy also has the rule for EIP-3009.
  x402 boolean not null default false,
  primary key (workspace_id, id),
  foreign key (workspace_id, mode, agent_id) references agents (workspace_id, mode, id),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address),
  foreign key (workspace_id, replaces) references grants (workspace_id, id),
  foreign key (workspace_id, replaced_by) references grants (workspace_id, id),
  constraint grants_slot_fkey foreign key (workspace_id, mode, wallet_address, slot)
    references wallet_slots (workspace_id, mode, wallet_address, slot),
  check (status <> 'active' or activated_at is not null),
  check ((status = 'revoked') = (revoked_at is not null)),
  check (replaced_by is null or status = 'revoked')
);
create index grants_by_wallet on grants (workspace_id, mode, wallet_address) where status <> 'revoked';
-- An agent has at most one active grant on a wallet, and beside it at most one pending grant, which replaces it (D14).
create unique index grants_one_active_per_agent_and_wallet
  on grants (workspace_id, mode, agent_id, wallet_address) where status = 'active';
create unique index grants_one_pending_per_agent_and_wallet
  on grants (workspace_id, mode, agent_id, wallet_address) where status = 'pending';
create index grants_live_by_agent on grants (workspace_id, mode, agent_id, wallet_address) where status <> 'revoked';
create index grants_listed on grants (workspace_id, mode, id);
create index grants_of_activator on grants (activated_by) where activated_by is not null;
-- A slot has at most one active grant and at most one pending grant. The condition `slot is not null` is always true.
-- With it, PostgreSQL uses these indexes only for statements that name the slot. Without it, PostgreSQL may choose them
-- for the grants of a workspace, for which other indexes are better.
create unique index grants_one_active_per_slot
  on grants (workspace_id, mode, wallet_address, slot) where status = 'active' and slot is not null;
create unique index grants_one_pending_per_slot
  on grants (workspace_id, mode, wallet_address, slot) where status = 'pending' and slot is not null;
-- A refused payment says whether the agent's grant was revoked. An agent can have any number of revoked grants, and this
-- index finds one of them without reading the others.
create index grants_revoked_by_agent
  on grants (workspace_id, mode, agent_id, wallet_address) where status = 'revoked';

------------------------------------------------------------------------------------------------------------------------
-- Payments

-- USDC that leaves a wallet: a transfer or a purchase of an agent, or a withdrawal of an owner. The row exists before
-- the enclave is asked to sign, and only proof from the chain ends it (D24a).
create table payments (
  workspace_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text not null,
  agent_id text,
  wallet_address text not null,
  grant_id text,
  to_address text not null check (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  amount_micro numeric(22, 0) not null check (amount_micro > 0),
  -- The amount as the caller wrote it.
  amount_usdc text not null,
  memo text check (char_length(memo) <= 200),
  idempotency_key text check (char_length(idempotency_key) between 1 and 64),
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  failure_code text,
  tx_hash text check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz not null,
  -- The limits under which the payment was admitted, and what was spent in the 24 hours before it. With the checks
  -- below, no row can exist that exceeds a limit.
  max_per_tx_micro numeric(22, 0),
  daily_cap_micro numeric(22, 0),
  spent_24h_micro numeric(22, 0) check (spent_24h_micro >= 0),
  -- The month in whose allowance the payment counts.
  allowance_month date,
  -- The number of the last attempt at the enclave, and until when its process holds the payment (D22, D23).
  attempt integer not null check (attempt >= 1),
  attempt_until timestamptz,
  -- Until then, a request that got no response may still arrive at the enclave. By the enclave's clock.
  fenced_until timestamptz,
  enclave_transaction_id text,
  mined_block bigint,
  mined_block_hash text,
  settled_at timestamptz,
  -- The API key or the connection that asked for the payment.
  credential_id text,
  -- When the enclave accepted the payment, by our clock.
  accepted_at timestamptz,
  -- When the signed request of the last attempt expires, by the enclave's clock.
  request_expires_at timestamptz,
  -- The user operation that contains the transfer. Null for a plain transaction.
  user_operation_hash text check (user_operation_hash ~ '^0x[0-9a-f]{64}$'),
  -- The nonce of a plain transaction. Once another transaction has used it, this one can never be mined.
  sender_nonce bigint check (sender_nonce >= 0),
  -- The newest block before the payment was recorded, and the last block in which its transfer was searched for.
  first_block bigint,
  searched_block bigint,
  -- The position in its block of the Transfer log that settled the payment.
  log_index bigint check (log_index >= 0),
  -- Why the payment is still pending, if that needs attention.
  pending_reason text,
  -- When the payment is looked up next, at the enclave or on the chain, and how often it was.
  next_lookup_at timestamptz not null default '-infinity',
  lookups integer not null default 0 check (lookups >= 0),
  kind text not null default 'transfer' check (kind in ('transfer', 'withdrawal', 'x402')),
  -- The EIP-3009 authorization of a purchase, as it is signed. It can be used on the chain before `valid_before` only.
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  valid_before timestamptz,
  -- When the payment was recorded from an unexplained transfer. No limit was checked for it then, because the money had
  -- already moved.
  recovered_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, grant_id) references grants (workspace_id, id),
  check (amount_micro <= max_per_tx_micro),
  check (spent_24h_micro + amount_micro <= daily_cap_micro),
  check (status <> 'confirmed' or (tx_hash is not null and mined_block is not null)),
  check ((status = 'failed') = (failure_code is not null)),
  check ((status = 'pending') = (settled_at is null)),
  check ((mined_block is null) = (mined_block_hash is null)),
  -- An agent's payment was admitted for an agent, under the limits of a grant. An owner's withdrawal was not.
  constraint payments_members_check check (
    case kind
      when 'withdrawal'
        then num_nonnulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro, allowance_month,
          recovered_at) = 0
      else num_nulls(agent_id, grant_id) = 0
        and num_nulls(max_per_tx_micro, daily_cap_micro, spent_24h_micro)
          = case when recovered_at is null then 0 else 3 end
    end
  ),
  -- Live payments of agents use the plan's allowance. Withdrawals do not.
  constraint payments_allowance_check check ((mode = 'live' and kind <> 'withdrawal') = (allowance_month is not null)),
  -- The signature of a withdrawal or a purchase is used once. Only a transfer is sent again after a lost attempt.
  constraint payments_sent_once_check check (kind = 'transfer' or attempt = 1),
  -- A purchase has an authorization, which ends at most five minutes after the payment was recorded.
  constraint payments_authorization_check check (
    case kind
      when 'x402' then num_nulls(authorization_nonce, valid_before, first_block) = 0
        and valid_before > created_at and valid_before <= created_at + interval '300 seconds'
      else num_nonnulls(authorization_nonce, valid_before) = 0
    end
  ),
  -- A signed authorization ends by its own use, or by proof that it was not used. Any other end would free an amount
  -- that the seller can still take.
  constraint payments_authorization_end_check check (
    kind <> 'x402' or case status
      when 'failed' then failure_code in ('enclave_refused', 'authorization_expired', 'authorization_canceled')
      when 'confirmed' then log_index is not null
      else true
    end
  )
) with (fillfactor = 85);
-- One idempotency key never makes two payments.
create unique index payments_by_idempotency_key
  on payments (workspace_id, mode, idempotency_key) where idempotency_key is not null;
-- What an agent spent from a wallet in the last 24 hours (D16).
create index payments_in_window
  on payments (workspace_id, mode, wallet_address, agent_id, created_at) include (amount_micro) where status <> 'failed';
-- What a wallet's balance at a block does not show yet (D26): payments that were confirmed in a later block.
create index payments_confirmed_by_block
  on payments (workspace_id, mode, wallet_address, mined_block) include (amount_micro) where status = 'confirmed';
create index payments_listed on payments (workspace_id, mode, id);
-- One agent's payments, so that a busy agent does not slow down the list of another.
create index payments_of_agent on payments (workspace_id, mode, agent_id, id);
-- The pending payments of one wallet, which the balance does not show yet either. Its condition is
-- `settled_at is null`, which no other index has. So PostgreSQL never sums a wallet's payments with an index of what is
-- pending in all workspaces.
create index payments_holding_balance
  on payments (workspace_id, mode, wallet_address, created_at, id) include (amount_micro, mined_block)
  where settled_at is null;
-- One Transfer log settles one payment (D24c). The index also finds the payments that share a transaction.
create unique index payments_one_per_transfer_log on payments (mode, tx_hash, log_index) where tx_hash is not null;
-- The payments whose transaction is known and whose outcome is not. Its condition has `<>`, which no other small index
-- has, so the watcher reads a page of this index and not everything that is pending.
create index payments_awaiting_chain
  on payments (mode, created_at, id) where status <> 'confirmed' and status <> 'failed' and tx_hash is not null;
-- Withdrawals are listed by their time, because the id of a withdrawal is older than its row: it is made when the owner
-- is asked to sign.
create index payments_withdrawn on payments (workspace_id, mode, created_at, id) where kind = 'withdrawal';
-- Together with `payments_in_window`: the payments of one agent from one wallet.
create index payments_failed
  on payments (workspace_id, mode, wallet_address, agent_id, created_at) where status = 'failed';
-- One authorization is one purchase. A challenge of MPP prescribes its nonce, so it can be paid once.
create unique index payments_by_authorization
  on payments (mode, wallet_address, authorization_nonce) where authorization_nonce is not null;
-- The purchases that the chain has not decided yet, in the order in which they are due.
create index authorizations_awaiting_chain on payments (mode, next_lookup_at, id)
  where status = 'pending' and kind = 'x402';
-- What the reconciler looks up. The chain alone decides about a purchase.
create index payments_to_reconcile on payments (mode, next_lookup_at, id)
  where status = 'pending' and kind <> 'x402';
-- The agents' payments from one wallet, for the ledger.
create index payments_from_wallet on payments (workspace_id, mode, wallet_address, id) where kind <> 'withdrawal';

-- What a purchase buys. The money is in the row of `payments` with the same id.
create table purchases (
  workspace_id text not null,
  mode text not null check (mode in ('test', 'live')),
  payment_id text not null,
  protocol text not null check (protocol in ('x402_v2', 'x402_v1', 'mpp')),
  -- The URL that asked for the payment, without its query and fragment, which may contain secrets.
  resource_url text not null check (char_length(resource_url) between 1 and 2048),
  host text not null check (char_length(host) between 1 and 261),
  method text not null check (char_length(method) between 1 and 16),
  -- What the seller says that it sells. Untrusted.
  description text check (char_length(description) <= 200),
  -- The SHA-256 of the agent's request. It distinguishes a retry from another request with the same idempotency key.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- The complete URL and the offer that was accepted, as JSON. Sealed, because the URL may contain secrets.
  order_sealed bytea not null,
  -- The name and value of the header that pays, with the signature. Null until the enclave has signed.
  header_sealed bytea,
  -- Null if the agent fetches the resource itself.
  delivery text check (delivery in ('delivered', 'failed', 'unknown')),
  -- How often the request that pays was sent.
  attempts integer not null default 0 check (attempts >= 0),
  -- Until then, one process works on the purchase, and others wait. The process extends this time while it works.
  worked_until timestamptz,
  -- The seller chooses it, so it can be any number of three digits. Null if the database rejected the seller's answer.
  response_status integer,
  -- The seller's answer. It is deleted after 24 hours (D68).
  response_sealed bytea,
  responded_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, payment_id),
  foreign key (workspace_id, payment_id) references payments (workspace_id, id),
  check (response_sealed is null or responded_at is not null),
  check (response_sealed is null or header_sealed is not null)
);
-- The answers whose time is over.
create index purchases_kept on purchases (responded_at) where response_sealed is not null;
create index purchases_by_time on purchases (workspace_id, mode, created_at) include (host, payment_id);
-- The purchases whose goods have not come, newest first.
create index purchases_undelivered on purchases (workspace_id, mode, payment_id) where delivery in ('failed', 'unknown');

-- A payment request that was refused before anything was reserved. It is not a payment, and no event reports it. The row
-- is deleted after 30 days.
create table payment_refusals (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  credential_id text,
  agent_id text not null,
  wallet_address text not null,
  to_address text not null,
  amount_usdc text not null,
  memo text,
  idempotency_key text,
  -- The code and the details of the response: the limit, and what was spent then. `json` keeps the details as they were
  -- sent.
  code text not null,
  details json not null,
  created_at timestamptz not null,
  -- The resource that the request would have bought, without its query. Null if it asked for a transfer.
  resource_url text,
  primary key (workspace_id, id)
);
create index payment_refusals_listed on payment_refusals (workspace_id, mode, id);
create index payment_refusals_by_time on payment_refusals (created_at);

-- USDC that left a wallet although no payment explains it. A database that was restored from a backup does not know the
-- payments of the time that it lost. The chain does, so the two are compared (D96).
create table unexplained_transfers (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index bigint not null check (log_index >= 0),
  wallet_address text not null,
  to_address text not null check (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  -- The contract reports it, so it can be any uint256.
  amount_micro numeric(78, 0) not null check (amount_micro > 0),
  -- The nonce of the EIP-3009 authorization that made the transfer. Null for a plain transfer.
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  block_number bigint not null check (block_number >= 0),
  -- The time of the block.
  mined_at timestamptz not null,
  found_at timestamptz not null,
  -- The payment that was recorded for this transfer when its idempotency key came back. Until then, the transfer counts
  -- towards the 24-hour limit of every grant of the wallet.
  payment_id text,
  primary key (workspace_id, mode, tx_hash, log_index),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address),
  foreign key (workspace_id, payment_id) references payments (workspace_id, id)
);
create index unexplained_transfers_of_wallet on unexplained_transfers (workspace_id, mode, wallet_address, mined_at)
  include (amount_micro) where payment_id is null;
create index unexplained_transfers_by_find on unexplained_transfers (workspace_id, mode, found_at)
  where payment_id is null;

-- The last block of a mode's chain whose outgoing transfers were compared with the payments.
create table ledger_cursors (
  mode text primary key check (mode in ('test', 'live')),
  block_number bigint not null check (block_number >= 0)
);

-- What one agent spent in one hour, so that the dashboard's overview need not read every payment. An hour is summed when
-- all of its payments are confirmed or failed, so a sum never changes. To have all sums made again, delete all rows of
-- both tables in one transaction.
create table hourly_payment_sums (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  -- The start of the hour. A payment belongs to the hour in which its id was made.
  hour timestamptz not null check (mod(extract(epoch from hour), 3600) = 0),
  -- Empty for the withdrawals, which owners make.
  agent_id text not null,
  -- The sum of the confirmed payments.
  spent_micro numeric(30, 0) not null check (spent_micro >= 0),
  confirmed integer not null check (confirmed >= 0),
  failed integer not null check (failed >= 0),
  -- The lowest id that a payment of the next hour can have. All payments of this workspace and mode with lower ids are in
  -- a sum, or are older than 31 days.
  below_id text not null,
  primary key (workspace_id, mode, hour, agent_id),
  check (confirmed + failed > 0),
  check ((confirmed = 0) = (spent_micro = 0))
);

-- What was spent on one host in one hour.
create table hourly_host_sums (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  -- An hour is in this table only if it is also in hourly_payment_sums.
  hour timestamptz not null check (mod(extract(epoch from hour), 3600) = 0),
  host text not null,
  -- The sum of the confirmed purchases, and their number.
  spent_micro numeric(30, 0) not null check (spent_micro > 0),
  purchases integer not null check (purchases > 0),
  -- Whether the agents fetched the resources themselves, so that the host is only their claim.
  is_claimed boolean not null,
  primary key (workspace_id, mode, hour, host, is_claimed)
);

------------------------------------------------------------------------------------------------------------------------
-- Deposits

-- USDC that arrived in a wallet.
create table deposits (
  workspace_id text not null,
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  wallet_address text not null,
  from_address text not null,
  -- The contract reports it, so it can be any uint256.
  amount_micro numeric(78, 0) not null check (amount_micro > 0),
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- Which of the transaction's transfers to this wallet it is, from 0. Unlike the log's index in its block, it stays the
  -- same in a reorganization.
  position integer not null check (position >= 0),
  block_number bigint not null,
  block_hash text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address)
);
-- A transfer is one deposit, however often its block is read.
create unique index deposits_once on deposits (mode, tx_hash, wallet_address, position);
create index deposits_of_wallet on deposits (workspace_id, mode, wallet_address, id);
create index deposits_listed on deposits (workspace_id, mode, id);

-- The last block of a mode's chain that was read for deposits.
create table deposit_cursors (
  mode text primary key check (mode in ('test', 'live')),
  block_number bigint not null,
  -- If the block with this number has another hash, the chain was reorganized.
  block_hash text not null,
  -- The last block that was read a second time. One answer of a node may leave out a log, so each block is read again
  -- when it is deep. Null until the cursor first moves.
  reread_block bigint check (reread_block >= 0)
);

------------------------------------------------------------------------------------------------------------------------
-- OAuth: clients and connections

-- An application that uses OAuth.
create table oauth_clients (
  -- For a client with a metadata document, its URL (decision 0037).
  id text primary key,
  -- The name that the client gives itself. Nobody has checked it.
  name text not null,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_at timestamptz not null,
  -- When a person last decided on a request of the client. Null until then.
  last_used_at timestamptz,
  kind text not null default 'registered' check (kind in ('registered', 'document')),
  -- When the metadata document was last fetched. The row has a copy, so that each request need not fetch it. Null for a
  -- copy that is built into the service.
  fetched_at timestamptz,
  -- Until then, the copy is used without fetching the document again.
  fresh_until timestamptz,
  constraint oauth_clients_document_check
    check ((kind = 'document') = (fresh_until is not null) and (kind = 'document' or fetched_at is null))
);
create index oauth_clients_never_used on oauth_clients (created_at) where last_used_at is null;

-- The access that a client asked for, until a person decides. The decision sets `decided_at`, once.
create table authorization_requests (
  handle_hash bytea primary key check (length(handle_hash) = 32),
  client_id text not null references oauth_clients (id),
  redirect_uri text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  state text not null,
  code_challenge text not null check (char_length(code_challenge) = 43),
  resource text,
  agent_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz
);
create index authorization_requests_by_end on authorization_requests (expires_at);
create index authorization_requests_by_client on authorization_requests (client_id);

-- What one person's consent gave to one client. Its code and all its tokens belong to it, and are worth nothing once it
-- is revoked. Every change of one of them locks this row.
create table connections (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  agent_id text not null,
  user_id text not null references users (id),
  -- When the person joined the workspace. A person who leaves and comes back does not get the connection back.
  member_since timestamptz not null,
  client_id text not null references oauth_clients (id),
  scopes text[] not null check (cardinality(scopes) > 0),
  resource text,
  -- Whose rate limits the connection's requests count against (D32).
  rate_subject bytea not null check (length(rate_subject) = 32),
  created_at timestamptz not null,
  -- The end of the current refresh token. Before the first exchange, the end of the code.
  expires_at timestamptz not null,
  -- Null until the code was exchanged for tokens.
  connected_at timestamptz,
  revoked_at timestamptz,
  revoked_because text check (revoked_because in ('client', 'user', 'code_replay', 'refresh_reuse', 'restore')),
  primary key (workspace_id, id),
  foreign key (workspace_id, mode, agent_id) references agents (workspace_id, mode, id),
  check ((revoked_at is null) = (revoked_because is null))
);
-- The connections that end when their agent is deleted.
create index connections_of_agent on connections (workspace_id, mode, agent_id) where revoked_at is null;
create index connections_never_exchanged on connections (expires_at) where connected_at is null;
create index connections_of_user on connections (user_id);
create index connections_not_exchanged on connections (workspace_id, mode, expires_at)
  where connected_at is null and revoked_at is null;
-- Whether a person connected the same client again. The index also finds what refers to a deleted client.
create index connections_of_client_and_user on connections (client_id, user_id, workspace_id);

-- The code that a client exchanges for tokens. It is kept for a day after its end, so that a second use is recognized.
create table authorization_codes (
  code_hash bytea primary key check (length(code_hash) = 32),
  workspace_id text not null,
  connection_id text not null,
  redirect_uri text not null,
  code_challenge text not null check (char_length(code_challenge) = 43),
  expires_at timestamptz not null,
  taken_at timestamptz,
  failures integer not null default 0 check (failures between 0 and 5),
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);
create index authorization_codes_by_end on authorization_codes (expires_at);
create index authorization_codes_of_connection on authorization_codes (workspace_id, connection_id);

create table access_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  workspace_id text not null,
  connection_id text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  expires_at timestamptz not null,
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);
create index access_tokens_by_end on access_tokens (expires_at);
create index access_tokens_of_connection on access_tokens (workspace_id, connection_id);

-- A token that was rotated is kept until it would have expired, so that a second use is recognized.
create table refresh_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  workspace_id text not null,
  connection_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  taken_at timestamptz,
  -- The database's own time when the token was used. Requests that use one token at the same time get the same new
  -- tokens, and all processes judge this by one clock (D38a). Null while the token is unused.
  rotated_at timestamptz,
  foreign key (workspace_id, connection_id) references connections (workspace_id, id)
);
create index refresh_tokens_by_end on refresh_tokens (expires_at);
-- At most one refresh token of a connection can be used.
create unique index refresh_tokens_one_current on refresh_tokens (workspace_id, connection_id) where taken_at is null;
create index refresh_tokens_of_connection on refresh_tokens (workspace_id, connection_id);

-- Why a connection failed, so that people can read it on the dashboard: one row for each connection and kind of error.
-- Only a connection to which a person consented has rows, so strangers cannot add any.
create table connection_errors (
  workspace_id text not null references workspaces (id),
  connection_id text not null,
  code text not null,
  -- These are copied from the connection. A connection that was never used is deleted before its errors are.
  mode text not null check (mode in ('test', 'live')),
  agent_id text not null,
  user_id text not null,
  client_id text not null,
  -- The last time. It is written at most once a minute.
  happened_at timestamptz not null,
  primary key (workspace_id, connection_id, code)
);
create index connection_errors_by_time on connection_errors (happened_at);

------------------------------------------------------------------------------------------------------------------------
-- Events and webhooks

-- Something that happened in a workspace. It is written in the transaction that makes it true, together with its
-- deliveries, so none is lost (D43).
create table events (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  type text not null,
  created_at timestamptz not null,
  data jsonb not null,
  -- The same data as it is sent. `jsonb` keeps neither the order of members nor their spelling, and a webhook's
  -- signature is a signature of bytes.
  data_text text not null,
  primary key (workspace_id, id)
);
-- The events of one type. A list of several types merges them, so a rare type is found among many others.
create index events_by_type on events (workspace_id, mode, type, id);

-- A URL to which a workspace wants its events sent.
create table webhook_endpoints (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null check (char_length(url) <= 2048),
  events text[] not null check (cardinality(events) > 0),
  -- Sealed and not hashed, because the service signs with it.
  secret_sealed bytea not null,
  -- Until `previous_secret_until`, the secret before a rotation signs too.
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  -- Since when every finished attempt has failed. Null after a success (D45).
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_because text check (disabled_because in ('owner', 'gone', 'failing')),
  deleted_at timestamptz,
  -- Whether the last attempt got no prompt response. Such an endpoint gets one attempt at a time, apart from the others,
  -- so it slows down nobody else's webhooks (D45).
  hangs boolean not null default false,
  primary key (workspace_id, id),
  check ((disabled_at is null) = (disabled_because is null)),
  check ((previous_secret_sealed is null) = (previous_secret_until is null))
);
create index webhook_endpoints_listed on webhook_endpoints (workspace_id, mode, id) where deleted_at is null;
-- The endpoints that get nothing any more, whose deliveries are cleaned up.
create index webhook_endpoints_stopped on webhook_endpoints (workspace_id, id)
  where deleted_at is not null or disabled_at is not null;

-- One event on its way to one endpoint.
create table deliveries (
  workspace_id text not null,
  -- The id of a delivery that an event causes is made from the ids of the event and the endpoint, so there is one.
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  endpoint_id text not null,
  event_id text not null,
  event_type text not null,
  -- What caused the delivery: the event itself, or a person (a replay or a test).
  trigger text not null check (trigger in ('event', 'replay', 'test')),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  attempts integer not null default 0 check (attempts between 0 and 6),
  next_attempt_at timestamptz,
  -- During an attempt: until when its process holds the delivery.
  leased_until timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id),
  foreign key (workspace_id, event_id) references events (workspace_id, id),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (finished_at is null)),
  check (status = 'pending' or leased_until is null)
) with (fillfactor = 80);
-- What is due, by endpoint, so that a busy endpoint does not hide the others.
create index deliveries_due on deliveries (workspace_id, endpoint_id, next_attempt_at) where status = 'pending';
create index deliveries_leased on deliveries (workspace_id, endpoint_id) where leased_until is not null;
-- The log of an endpoint. A workspace's log merges those of its endpoints, so that neither the other mode nor a busy
-- endpoint slows it down.
create index deliveries_of_endpoint on deliveries (workspace_id, endpoint_id, id);
create index deliveries_failed on deliveries (workspace_id, endpoint_id, id) where status = 'failed';
create index deliveries_of_event on deliveries (workspace_id, event_id);
create index deliveries_finished on deliveries (finished_at) where finished_at is not null;
-- While an endpoint has replays in the queue, no other range is replayed.
create index deliveries_replays_pending
  on deliveries (workspace_id, endpoint_id) where status = 'pending' and trigger = 'replay';

-- One post of an event to an endpoint, and its result.
create table delivery_attempts (
  workspace_id text not null,
  delivery_id text not null,
  number integer not null check (number between 1 and 6),
  started_at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  status_code integer,
  -- Why the attempt failed: timeout, dns_error, connection_refused, connection_reset, tls_error, blocked_address,
  -- redirect, http_error or invalid_response.
  error text,
  -- The beginning of the response. Bytes, because the endpoint may send anything.
  response_body bytea check (length(response_body) <= 16384),
  primary key (workspace_id, delivery_id, number),
  foreign key (workspace_id, delivery_id) references deliveries (workspace_id, id) on delete cascade
);

------------------------------------------------------------------------------------------------------------------------
-- The service's own records

-- The claim of one process on work that one process at a time does, such as watching a chain. It ends by itself.
create table leases (
  name text primary key,
  holder text not null,
  expires_at timestamptz not null
);

-- A key that the service has generated for itself. It is generated once, and never changes.
create table server_keys (
  name text primary key,
  key_sealed bytea not null,
  created_at timestamptz not null
);

-- A restore of this database from a backup that `npm run after-restore` has dealt with.
create table restores (
  -- When the command was first run for this restore. API keys that were made later are not held.
  restored_at timestamptz primary key,
  -- Null until everything is found that may still have landed on a chain after the restore.
  finished_at timestamptz check (finished_at >= restored_at)
);
