-- After the database was restored from a backup, API keys that were revoked since the backup would work again. So every
-- key can be held until an owner of the workspace has confirmed it (D96). Connections can end for the same reason.

lock table api_keys, connections in access exclusive mode;

alter table api_keys
  -- When the key was held: the time that names the restore. Null if it never was.
  add column held_at timestamptz,
  -- When an owner confirmed the key. While `held_at` is set and this is null, the key gives no access.
  add column confirmed_at timestamptz,
  add constraint api_keys_confirmed_check check (confirmed_at is null or held_at is not null) not valid;

-- Not validated, because that would read all rows under the lock. All existing rows have one of the earlier causes.
alter table connections
  drop constraint connections_revoked_because_check,
  add constraint connections_revoked_because_check
    check (revoked_because in ('client', 'user', 'code_replay', 'refresh_reuse', 'restore')) not valid;
