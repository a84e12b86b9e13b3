-- no transaction
-- Validates the constraints of 0031 and builds its index, while requests go on. No string here holds a semicolon.

alter table api_keys validate constraint api_keys_confirmed_check;
alter table connections validate constraint connections_revoked_because_check;

-- The keys of a workspace that wait for an owner.
create index concurrently if not exists api_keys_held on api_keys (account_id, id)
  where held_at is not null and confirmed_at is null and revoked_at is null;
