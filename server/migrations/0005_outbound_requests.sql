-- The requests that the service sent to sellers, and for the metadata documents of clients (D94). If somebody asks who
-- sent a request to a server, the operator finds it here.

create table outbound_requests (
  -- The workspace whose agent chose the URL. Empty for a metadata document, which anybody can make the service fetch.
  workspace_id text not null,
  -- Counts the requests of the workspace. Only the newest ones are kept.
  number bigint not null,
  mode text check (mode in ('test', 'live')),
  -- The API key or the connection.
  credential_id text,
  host text not null check (char_length(host) between 1 and 261),
  method text not null,
  -- Null if no response arrived.
  status integer,
  -- How much of the response's body was read.
  response_bytes integer not null,
  sent_at timestamptz not null,
  primary key (workspace_id, number)
);
create index outbound_requests_by_time on outbound_requests (sent_at);

-- How many requests a workspace has sent so far.
create table outbound_counts (
  workspace_id text primary key,
  requests bigint not null
) with (fillfactor = 50);
