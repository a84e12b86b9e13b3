-- One request stops an agent, a wallet or a whole mode: it suspends every active grant concerned (D87). Each grant says
-- which stop suspended it, so that resuming a stop brings back exactly these grants.

lock table workspaces, users, agents, wallets, grants in access exclusive mode;

create table stops (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  -- What it stops: one agent, one wallet, or the whole mode if both are null.
  agent_id text,
  wallet_address text,
  created_at timestamptz not null,
  -- Null if the operator made it.
  created_by text references users (id),
  primary key (workspace_id, id),
  foreign key (workspace_id, mode, agent_id) references agents (workspace_id, mode, id),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address),
  check (num_nonnulls(agent_id, wallet_address) <= 1)
);
create index stops_of_creator on stops (created_by) where created_by is not null;

-- The stop that suspended the grant. Null if a person suspended this grant alone. Counts only while the grant is
-- suspended: the previous version of the service, which resumes a grant, does not clear it.
alter table grants
  add column stop_id text,
  add constraint grants_stop_fkey foreign key (workspace_id, stop_id) references stops (workspace_id, id);
create index grants_stopped on grants (workspace_id, mode, stop_id, id)
  where stop_id is not null and status = 'active';
