-- People (passkeys, sessions of the dashboard, workspaces' members, invitations), the audit log, and what agent hosts
-- hold: OAuth clients, and connections with their codes and tokens. Of every secret only its SHA-256 is kept, so a copy
-- of these tables lets nobody in. Times come from the service's clock, as everywhere (D49).

create table users (
  id text primary key,
  name text not null check (char_length(name) between 1 and 100),
  -- WebAuthn's user handle: random, says nothing of the person.
  user_handle bytea not null unique check (length(user_handle) = 32),
  created_at timestamptz not null
);

create table passkeys (
  user_id text not null references users (id),
  credential_id text not null,
  name text not null,
  public_key_cose bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  primary key (credential_id)
);
create index passkeys_by_user on passkeys (user_id, created_at);

-- A code is spent by setting `used_at`; making new ones deletes the old ones (D46).
create table recovery_codes (
  user_id text not null references users (id),
  code_hash bytea not null check (length(code_hash) = 32),
  created_at timestamptz not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);
create unique index recovery_codes_by_hash on recovery_codes (code_hash);

-- Sessions of the dashboard (D47): ended ones are deleted.
create table sessions (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  user_id text not null references users (id),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- The end in all; the idle end follows from `last_seen_at`.
  expires_at timestamptz not null,
  -- When the person last proved to be there, by passkey or recovery code.
  verified_at timestamptz not null,
  -- What the browser calls itself.
  device text not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_end on sessions (expires_at);

-- A WebAuthn challenge that waits for its answer. Taken (deleted) by the first answer.
create table ceremonies (
  secret_hash bytea primary key check (length(secret_hash) = 32),
  kind text not null check (kind in ('sign_up', 'sign_in', 'verification', 'passkey')),
  challenge text not null,
  user_id text references users (id),
  -- For a sign-up: the name, and the user handle in base64url.
  data jsonb,
  expires_at timestamptz not null
);
create index ceremonies_by_end on ceremonies (expires_at);

create table members (
  account_id text not null references accounts (id),
  user_id text not null references users (id),
  role text not null check (role in ('owner', 'admin', 'viewer')),
  created_at timestamptz not null,
  primary key (account_id, user_id)
);
create index members_by_user on members (user_id);

create table invitations (
  account_id text not null references accounts (id),
  id text not null,
  secret_hash bytea not null check (length(secret_hash) = 32),
  role text not null check (role in ('owner', 'admin', 'viewer')),
  uses_left integer not null check (uses_left >= 0),
  -- Null: the operator's own.
  created_by text references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (account_id, id)
);
create unique index invitations_by_secret_hash on invitations (secret_hash);

-- Who did what (D48). `log_id` says whose log it is: a workspace's, a user's or an OAuth client's.
create table audit_entries (
  log_id text not null,
  id text not null,
  created_at timestamptz not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'client', 'operator')),
  actor_id text,
  action text not null,
  -- What it was done to: an id, never a secret.
  subject text,
  details jsonb not null,
  primary key (log_id, id),
  check ((actor_kind = 'operator') = (actor_id is null))
);

-- Append-only, by whatever way it is reached.
create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_entries_are_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change_of_audit();

-- As `rate_windows`, for subjects that anybody can make up (an address): a row is made by the first attempt, and cleaned
-- up after its end, which moves in whole hours so that counting rarely touches the index.
create table attempt_windows (
  subject bytea not null,
  bucket text not null,
  hits bigint[] not null,
  expires_at timestamptz not null,
  primary key (subject, bucket)
) with (fillfactor = 50);
create index attempt_windows_by_end on attempt_windows (expires_at);

create table oauth_clients (
  id text primary key,
  -- What the client calls itself; nobody has checked it.
  name text not null,
  redirect_uris text[] not null check (cardinality(redirect_uris) > 0),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_at timestamptz not null,
  -- Null until a person has decided on a request of it.
  last_used_at timestamptz
);
create index oauth_clients_never_used on oauth_clients (created_at) where last_used_at is null;

-- A checked authorization request that waits for a person's decision. Taken by setting `decided_at`.
create table authorization_requests (
  handle_hash bytea primary key check (length(handle_hash) = 32),
  client_id text not null references oauth_clients (id),
  redirect_uri text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  state text not null,
  code_challenge text not null check (char_length(code_challenge) = 43),
  resource text,
  agent_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz
);
create index authorization_requests_by_end on authorization_requests (expires_at);
create index authorization_requests_by_client on authorization_requests (client_id);

-- A connection: what one consent gave to one client. The specification's session, or grant family: every code and token
-- belongs to one, and is worth nothing once it is revoked. Its row is the lock of the whole family.
create table connections (
  account_id text not null references accounts (id),
  id text not null,
  mode text not null check (mode in ('test', 'live')),
  agent_id text not null,
  user_id text not null references users (id),
  -- The membership by which the consent was given, by its time: who leaves and comes back has another one.
  member_since timestamptz not null,
  client_id text not null references oauth_clients (id),
  scopes text[] not null check (cardinality(scopes) > 0),
  resource text,
  -- Whose budget its requests count against (D32).
  rate_subject bytea not null check (length(rate_subject) = 32),
  created_at timestamptz not null,
  -- The end of the current refresh token; of the code before the first exchange.
  expires_at timestamptz not null,
  -- Null until the code was exchanged.
  connected_at timestamptz,
  revoked_at timestamptz,
  revoked_because text check (revoked_because in ('client', 'user', 'code_replay', 'refresh_reuse')),
  primary key (account_id, id),
  foreign key (account_id, mode, agent_id) references agents (account_id, mode, id),
  check ((revoked_at is null) = (revoked_because is null))
);
create index connections_by_client on connections (client_id);

-- Kept for a day after its end, so that a second use is recognized.
create table authorization_codes (
  code_hash bytea primary key check (length(code_hash) = 32),
  account_id text not null,
  connection_id text not null,
  redirect_uri text not null,
  code_challenge text not null check (char_length(code_challenge) = 43),
  expires_at timestamptz not null,
  taken_at timestamptz,
  failures integer not null default 0 check (failures between 0 and 5),
  foreign key (account_id, connection_id) references connections (account_id, id)
);
create index authorization_codes_by_end on authorization_codes (expires_at);

create table access_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  account_id text not null,
  connection_id text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  expires_at timestamptz not null,
  foreign key (account_id, connection_id) references connections (account_id, id)
);
create index access_tokens_by_end on access_tokens (expires_at);

-- Rotated ones stay as long as they would have lived, so that a second use is recognized.
create table refresh_tokens (
  token_hash bytea primary key check (length(token_hash) = 32),
  account_id text not null,
  connection_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  taken_at timestamptz,
  foreign key (account_id, connection_id) references connections (account_id, id)
);
create index refresh_tokens_by_end on refresh_tokens (expires_at);
-- A family has one refresh token that can be used, at the most.
create unique index refresh_tokens_one_current on refresh_tokens (account_id, connection_id) where taken_at is null;
