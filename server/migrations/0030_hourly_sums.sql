-- What was spent in each hour, by each agent and on each host, so that the dashboard's overview need not read every
-- payment. An hour is summed when all of its payments are confirmed or failed, so its rows never change. To have
-- all sums made again, delete all rows of both tables in one transaction.

lock table accounts in share row exclusive mode;

create table hourly_payment_sums (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  -- The start of the hour. A payment belongs to the hour in which its id was created.
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
  check (confirmed + failed > 0),
  check ((confirmed = 0) = (spent_micro = 0)),
  primary key (account_id, mode, hour, agent_id)
);

create table hourly_host_sums (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  -- An hour is in this table only if it is also in hourly_payment_sums.
  hour timestamptz not null check (mod(extract(epoch from hour), 3600) = 0),
  host text not null,
  -- The sum of the confirmed purchases, and their number.
  spent_micro numeric(30, 0) not null check (spent_micro > 0),
  purchases integer not null check (purchases > 0),
  primary key (account_id, mode, hour, host)
);
