-- What we tell others: the endpoints that a workspace wants events at, one delivery for each event and endpoint, and
-- every attempt. And what the chain tells us beside our own payments: deposits, with the cursor up to which each chain
-- was read. A delivery is made in the transaction of its event, so none is forgotten.

create table webhook_endpoints (
  account_id text not null references accounts (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null check (char_length(url) <= 2048),
  events text[] not null check (cardinality(events) > 0),
  -- We must sign with it, so it is encrypted, not hashed.
  secret_sealed bytea not null,
  -- While a rotation overlaps, the old one signs too.
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  -- Since when every finished attempt has failed; null after a success (D45).
  failing_since timestamptz,
  disabled_at timestamptz,
  disabled_because text check (disabled_because in ('owner', 'gone', 'failing')),
  deleted_at timestamptz,
  primary key (account_id, id),
  check ((disabled_at is null) = (disabled_because is null)),
  check ((previous_secret_sealed is null) = (previous_secret_until is null))
);
create index webhook_endpoints_listed on webhook_endpoints (account_id, mode, id) where deleted_at is null;
-- Whose deliveries stand still: what the cleaning looks through.
create index webhook_endpoints_stopped on webhook_endpoints (account_id, id)
  where deleted_at is not null or disabled_at is not null;

create table deliveries (
  account_id text not null,
  -- What an event itself makes is named after the event and the endpoint, so there is one for each.
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  endpoint_id text not null,
  event_id text not null,
  event_type text not null,
  -- What made it: the event itself, or a person (a replay, a test).
  trigger text not null check (trigger in ('event', 'replay', 'test')),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  attempts integer not null default 0 check (attempts between 0 and 6),
  next_attempt_at timestamptz,
  -- While an attempt is under way: until when its worker holds it.
  leased_until timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, endpoint_id) references webhook_endpoints (account_id, id),
  foreign key (account_id, event_id) references events (account_id, id),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((status = 'pending') = (finished_at is null)),
  check (status = 'pending' or leased_until is null)
) with (fillfactor = 80);
-- What is due, endpoint by endpoint: a busy endpoint must not hide the others.
create index deliveries_due on deliveries (account_id, endpoint_id, next_attempt_at) where status = 'pending';
create index deliveries_leased on deliveries (account_id, endpoint_id) where leased_until is not null;
-- The delivery log: ids sort by time. That of a workspace is merged from those of its endpoints, so that neither the
-- other mode nor a busy endpoint stands before a quiet one.
create index deliveries_of_endpoint on deliveries (account_id, endpoint_id, id);
create index deliveries_failed on deliveries (account_id, endpoint_id, id) where status = 'failed';
create index deliveries_of_event on deliveries (account_id, event_id);
create index deliveries_finished on deliveries (finished_at) where finished_at is not null;

create table delivery_attempts (
  account_id text not null,
  delivery_id text not null,
  number integer not null check (number between 1 and 6),
  started_at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  status_code integer,
  -- Why there is no good answer: timeout, dns_error, connection_refused, connection_reset, tls_error, blocked_address,
  -- redirect, http_error, invalid_response.
  error text,
  -- At most 16 KiB of the answer, as bytes: anything may come.
  response_body bytea check (length(response_body) <= 16384),
  primary key (account_id, delivery_id, number),
  foreign key (account_id, delivery_id) references deliveries (account_id, id) on delete cascade
);

create table deposits (
  account_id text not null,
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  wallet_address text not null,
  from_address text not null,
  -- Whatever the contract says: any uint256.
  amount_micro numeric(78, 0) not null check (amount_micro > 0),
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- Which of the transaction's transfers to this wallet it is, from 0: unlike the log's index in its block, it is the
  -- same after a reorganization.
  position integer not null check (position >= 0),
  block_number bigint not null,
  block_hash text not null,
  created_at timestamptz not null,
  primary key (account_id, id),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address)
);
create unique index deposits_once on deposits (mode, tx_hash, wallet_address, position);
create index deposits_of_wallet on deposits (account_id, mode, wallet_address, id);

-- Up to where each chain was read for deposits.
create table deposit_cursors (
  mode text primary key check (mode in ('test', 'live')),
  -- The last block that was read, and its hash: another hash at that number means a reorganization below it.
  block_number bigint not null,
  block_hash text not null
);
-- Whose deposits are looked for: all wallets of a mode, page by page.
create index wallets_of_mode on wallets (mode, address);

-- What an event's data was written as: jsonb keeps neither the order of members nor the spelling, and a signature is of
-- bytes. Null in rows from before.
alter table events add column data_text text;
-- The last 30 days by time (GET /v1/events): ids sort by time. By type first, so that a rare one is found at once among
-- many others; several are merged.
create index events_by_type on events (account_id, mode, type, id);
