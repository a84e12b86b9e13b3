-- Views of the payments that a workspace has saved: a name, and the filters of the page.

create table saved_views (
  workspace_id text not null references workspaces (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  name text not null check (char_length(name) between 1 and 100),
  -- The query of the page's URL, such as `status=failed&sort=largest`.
  query text not null check (char_length(query) <= 1000),
  created_at timestamptz not null,
  primary key (workspace_id, id),
  -- A view that is saved again under its name is replaced.
  constraint saved_views_name unique (workspace_id, mode, name)
);
