-- What others make the service keep has a budget for each workspace and mode: here the responses of sellers (D93).

lock table purchases in access exclusive mode;

-- How many bytes a workspace keeps, and how many it may keep. For the kind `answers`, these are the responses of sellers,
-- and what is reserved for the responses that may still come. The budget is the one of the plan when something was
-- reserved last.
create table stored_bytes (
  workspace_id text not null references workspaces (id),
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('answers')),
  used_bytes bigint not null check (used_bytes >= 0),
  budget_bytes bigint not null,
  primary key (workspace_id, mode, kind),
  constraint stored_bytes_budget check (used_bytes <= budget_bytes)
) with (fillfactor = 50);

-- What of a purchase is counted in stored_bytes: its response, and what is reserved for a response that may still come.
-- Both are 0 for purchases that were made before they were counted.
alter table purchases
  add column kept_bytes integer not null default 0,
  add column reserved_bytes integer not null default 0;
