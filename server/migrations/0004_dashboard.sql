-- What owners see and steer from the dashboard: who allowed a payment, and with which credential it was asked for; what
-- was refused, and why; policies replaced by one signature (D14); agents deleted (D11); names for keys and recipients.
-- Only what is done in a moment stands here; what looks through every row of a large table is 0005.

-- All at once and before anything else, in the order in which payments take them: processes of the version before may be
-- at work, and tables locked one by one, between their statements, would be a deadlock sooner or later.
lock table grants, payments, agents, api_keys in access exclusive mode;
-- Foreign keys to these are added.
lock table accounts, users in share row exclusive mode;

-- A deleted agent's row stays: its grants and payments name it. Created anew, it begins anew (and its window does not).
-- Its key at the enclave goes with it.
alter table agents
  add column deleted_at timestamptz,
  add check (deleted_at is null or signer_id is null);

alter table api_keys
  add column name text not null default '' check (char_length(name) <= 100),
  -- Null: the operator.
  add column created_by text references users (id);

alter table grants
  -- The grant whose place this one takes when it is signed.
  add column replaces text,
  -- The grant that took this one's place.
  add column replaced_by text,
  -- Who handed in the owner's signature; null: the operator.
  add column activated_by text references users (id),
  add foreign key (account_id, replaces) references grants (account_id, id),
  add foreign key (account_id, replaced_by) references grants (account_id, id),
  add check (replaced_by is null or status = 'revoked');

alter table payments
  -- The API key or the connection that asked for it.
  add column credential_id text,
  -- When the enclave accepted it, by our clock.
  add column accepted_at timestamptz;

-- Requests that the pre-check refused. They are no payments (specification, part 4, rule 1): nothing was reserved, no
-- event tells of them, and they are deleted after 30 days.
create table payment_refusals (
  account_id text not null references accounts (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  credential_id text,
  agent_id text not null,
  wallet_address text not null,
  to_address text not null,
  amount_usdc text not null,
  memo text,
  idempotency_key text,
  -- The code of the answer, and its details, member by member as they were answered: the limit, and how it stood then.
  code text not null,
  details json not null,
  created_at timestamptz not null,
  primary key (account_id, id)
);
create index payment_refusals_listed on payment_refusals (account_id, mode, id);
create index payment_refusals_by_time on payment_refusals (created_at);

-- What a workspace calls an address that is paid to.
create table recipients (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  label text not null check (char_length(label) between 1 and 100),
  created_at timestamptz not null,
  primary key (account_id, mode, address)
);
