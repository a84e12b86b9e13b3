-- Moving a workspace to another cell (D95). `npm run move-workspace` writes these tables.

lock table workspaces in access exclusive mode;

-- Since when the workspace is being moved to another cell. While it is set, requests that could write are rejected.
alter table workspaces add column moving_since timestamptz;

-- The moves of workspaces out of this cell and into it. A move has a row with the same id in both cells.
create table moves (
  id text primary key,
  workspace_id text not null,
  slug text not null,
  -- The other cell, as the operator named it.
  cell text not null check (cell ~ '^[0-9A-Za-z]{3}$'),
  -- In the cell that the workspace leaves: `draining` while its work is finished, `taken_out` once its rows are in
  -- `moved_rows`, then `moved`. In the cell that it enters: `arrived`. `undone` in both cells: it stays where it was.
  state text not null check (state in ('draining', 'taken_out', 'moved', 'arrived', 'undone')),
  started_at timestamptz not null,
  ended_at timestamptz,
  check ((state in ('draining', 'taken_out')) = (ended_at is null))
);
create index moves_of_workspace on moves (workspace_id, started_at, id);
create index moves_of_slug on moves (slug, started_at, id);
create unique index moves_under_way on moves (workspace_id) where ended_at is null;

-- The rows of a workspace that was taken out, and the rows of other tables that it needs. The numbers say in which order
-- rows were read.
create table moved_rows (
  move_id text not null references moves,
  table_name text not null,
  number bigint not null,
  -- The row as `to_json` writes it. The type is `json`, because `jsonb` would change the order of its members.
  content json not null,
  primary key (move_id, table_name, number)
);

-- The hashes of the credentials and invitations of workspaces that were moved. So a request with one of them learns that the workspace
-- is elsewhere.
create table moved_credentials (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  move_id text not null references moves
);
create index moved_credentials_of_move on moved_credentials (move_id);
