-- Why a connection failed, so that people can read it on the dashboard: for example, its code had expired. There is one
-- row for each connection and kind of error. Only a connection to which a person consented has rows, so strangers cannot
-- add any.

lock table accounts in share row exclusive mode;

create table connection_errors (
  account_id text not null references accounts (id),
  connection_id text not null,
  code text not null,
  -- These are copied from the connection. A connection that was never used is deleted before its errors are.
  mode text not null check (mode in ('test', 'live')),
  agent_id text not null,
  user_id text not null,
  client_id text not null,
  -- The last time. It is written at most once a minute.
  happened_at timestamptz not null,
  primary key (account_id, connection_id, code)
);
create index connection_errors_by_time on connection_errors (happened_at);
