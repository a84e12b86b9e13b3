-- The first picture of the ledger: accounts and their keys, agents, wallets, grants, payments and what happened.
-- Every tenant table leads with its account; ids are made by the service (no sequences), times by its clock (no now()),
-- so that the same schema runs on PostgreSQL-compatible distributed databases. Money is micro-USDC in numeric(22, 0):
-- 10^15 USDC (D19) do not fit a bigint.

create table accounts (
  id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('developer', 'pro', 'scale')),
  created_at timestamptz not null
);

-- Sponsored transactions of one UTC calendar month (D27). Its row is the lock under which the allowance is exact.
create table allowances (
  account_id text not null references accounts (id),
  month date not null check (extract(day from month) = 1),
  used bigint not null default 0 check (used >= 0),
  primary key (account_id, month)
);

-- Only the SHA-256 of a key is kept (D29).
create table api_keys (
  account_id text not null references accounts (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  secret_hash bytea not null check (length(secret_hash) = 32),
  created_at timestamptz not null,
  grace_until timestamptz,
  revoked_at timestamptz,
  primary key (account_id, id)
);
create unique index api_keys_by_secret_hash on api_keys (secret_hash);

-- One row a subject and bucket: the times (Unix milliseconds) of the last requests that were counted, as many as the
-- bucket's limit at the most. Rewritten in place by each request, hence the free space in its pages.
create table rate_windows (
  subject bytea not null,
  bucket text not null,
  hits bigint[] not null default '{}',
  primary key (subject, bucket)
) with (fillfactor = 50);

create table agents (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  id text not null,
  created_at timestamptz not null,
  -- The agent's own authorization key at the enclave (D15a), made with its first grant. The private half is encrypted.
  signer_id text,
  signer_private_key_sealed bytea,
  primary key (account_id, mode, id),
  check ((signer_id is null) = (signer_private_key_sealed is null))
);

create table wallets (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  name text not null,
  enclave_wallet_id text not null unique,
  owner_quorum_id text not null,
  owner_credential_id text not null,
  owner_public_key bytea not null,
  created_at timestamptz not null,
  -- While a change of the signer list is under way at the enclave, nobody else starts one (a lease, not a lock).
  signer_change_until timestamptz,
  primary key (account_id, mode, address)
);
create unique index wallets_by_address on wallets (address);

create table grants (
  account_id text not null,
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
  enclave_policy_id text not null,
  -- The request that the owner is asked to sign (never its signature), and until when it may be signed (D15).
  signing_request jsonb,
  created_at timestamptz not null,
  activated_at timestamptz,
  suspended_at timestamptz,
  revoked_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, mode, agent_id) references agents (account_id, mode, id),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address),
  check (status <> 'active' or activated_at is not null),
  check ((status = 'revoked') = (revoked_at is not null))
);
-- At most one non-revoked grant for an agent on a wallet (D14).
create unique index grants_one_live_per_agent_and_wallet
  on grants (account_id, mode, agent_id, wallet_address) where status <> 'revoked';
create index grants_by_wallet on grants (account_id, mode, wallet_address) where status <> 'revoked';

create table payments (
  account_id text not null,
  mode text not null check (mode in ('test', 'live')),
  id text not null,
  agent_id text not null,
  wallet_address text not null,
  grant_id text not null,
  to_address text not null check (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  amount_micro numeric(22, 0) not null check (amount_micro > 0),
  amount_usdc text not null,
  memo text check (char_length(memo) <= 200),
  idempotency_key text check (char_length(idempotency_key) between 1 and 64),
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  failure_code text,
  tx_hash text check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  created_at timestamptz not null,
  -- The limits it was admitted under, and what the window held before it: no record may exist that broke them.
  max_per_tx_micro numeric(22, 0) not null,
  daily_cap_micro numeric(22, 0) not null,
  spent_24h_micro numeric(22, 0) not null check (spent_24h_micro >= 0),
  -- The calendar month whose allowance it counts in: live mode only (D27).
  allowance_month date,
  -- Which attempt at the enclave is the last one, and until when its process holds the payment (D22, D23).
  attempt integer not null check (attempt >= 1),
  attempt_until timestamptz,
  -- A request of an attempt that got no answer may still arrive at the enclave until then.
  fenced_until timestamptz,
  enclave_transaction_id text,
  mined_block bigint,
  mined_block_hash text,
  settled_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, grant_id) references grants (account_id, id),
  check (amount_micro <= max_per_tx_micro),
  check (spent_24h_micro + amount_micro <= daily_cap_micro),
  check (status <> 'confirmed' or (tx_hash is not null and mined_block is not null)),
  check ((status = 'failed') = (failure_code is not null)),
  check ((status = 'pending') = (settled_at is null)),
  check ((mined_block is null) = (mined_block_hash is null)),
  check ((mode = 'live') = (allowance_month is not null))
) with (fillfactor = 85);
-- Never two payments for one idempotency key (specification, part 4, rule 4).
create unique index payments_by_idempotency_key
  on payments (account_id, mode, idempotency_key) where idempotency_key is not null;
-- The rolling window of the daily cap (D16).
create index payments_in_window
  on payments (account_id, mode, wallet_address, agent_id, created_at) include (amount_micro) where status <> 'failed';
-- What a wallet's balance at a block does not show yet (D26): pending, or confirmed in a later block.
create index payments_pending_of_wallet on payments (account_id, mode, wallet_address) where status = 'pending';
create index payments_confirmed_by_block
  on payments (account_id, mode, wallet_address, mined_block) include (amount_micro) where status = 'confirmed';
-- What the watcher and the reconciler still have to settle.
create index payments_unsettled on payments (mode, created_at, id) where status = 'pending';

-- The outbox: an event is written in the transaction that makes it true (D43).
create table events (
  account_id text not null references accounts (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  type text not null,
  created_at timestamptz not null,
  data jsonb not null,
  primary key (account_id, id)
);

-- Work that one process at a time does: watching a chain, reconciling. Whoever holds the row's lease does it.
create table leases (
  name text primary key,
  holder text not null,
  expires_at timestamptz not null
);
