-- Several requests that use one refresh token at the same time get the same new tokens. The time is judged by the
-- database's own clock, and the new tokens are derived from the old one with a key of the service.

lock table refresh_tokens in access exclusive mode;

-- The database's own time when the token was used. Null while the token is unused, and for tokens that were used before
-- this column existed.
alter table refresh_tokens add column rotated_at timestamptz;

-- Keys that the service has generated for itself. Each is generated once, and never changed.
create table server_keys (
  name text primary key,
  key_sealed bytea not null,
  created_at timestamptz not null
);
