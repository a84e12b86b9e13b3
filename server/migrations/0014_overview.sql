-- The overview shows where money goes by agent, wallet, recipient and website, in calendar periods of any time zone, and
-- how much each wallet holds.

-- What was spent in one hour, added up in several ways, so that the overview need not read every payment. An hour is
-- summed when all of its payments are confirmed or failed, so a sum never changes. To have all sums made again, delete
-- all rows. This table replaces hourly_payment_sums and hourly_host_sums. The previous version of the service may still
-- use these two until it is stopped, so a later migration drops them.
create table hourly_sums (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  -- What the row adds up: all payments of the hour, those of one agent, from one wallet, to one recipient or on one
  -- website, or the withdrawals. A website is a `claimed_host` if the agents fetched the resources themselves, so that
  -- the website is only their claim. Withdrawals are in `all` and `withdrawal` only.
  part text not null check (part in ('all', 'agent', 'wallet', 'recipient', 'host', 'claimed_host', 'withdrawal')),
  -- The start of the hour. A payment belongs to the hour in which its id was made.
  hour timestamptz not null check (mod(extract(epoch from hour), 3600) = 0),
  -- The agent, wallet, recipient or website. Empty for `all` and `withdrawal`.
  name text not null,
  -- The sum of the confirmed payments.
  spent_micro numeric(30, 0) not null check (spent_micro >= 0),
  confirmed integer not null check (confirmed >= 0),
  failed integer not null check (failed >= 0),
  -- The lowest id that a payment of the next hour can have. All payments of this workspace and mode with lower ids are in
  -- a sum, or are older than the sums that are kept. Only in the rows of `all`.
  below_id text,
  primary key (workspace_id, mode, part, hour, name),
  check (confirmed + failed > 0),
  check ((confirmed = 0) = (spent_micro = 0)),
  check ((part = 'all') = (below_id is not null)),
  check ((part in ('all', 'withdrawal')) = (name = ''))
);

-- The USDC of a wallet, as a job last read it from the chain. The overview shows it, so that it need not wait for the
-- chain. No payment is decided by it.
create table wallet_balances (
  workspace_id text not null,
  mode text not null,
  wallet_address text not null,
  -- The contract reports it, so it can be any uint256.
  balance_micro numeric(78, 0) not null check (balance_micro >= 0),
  -- The block at which the balance was read. Payments in later blocks are known from the payments themselves.
  block_number bigint not null,
  read_at timestamptz not null,
  primary key (workspace_id, mode, wallet_address),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address)
) with (fillfactor = 50);
