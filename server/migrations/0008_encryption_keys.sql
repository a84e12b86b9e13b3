-- The keys that encrypt stored secrets (D74). A process compares its settings with this table when it starts, so that a
-- key that is missing or mistyped is noticed before anything needs it.

create table encryption_keys (
  -- Names the key without revealing it.
  fingerprint text primary key,
  -- The key's name in ENCRYPTION_KEYS. Null for the key of ENCRYPTION_KEY.
  id text,
  first_used_at timestamptz not null,
  -- Since when no stored secret needs the key. Null while one may need it.
  unused_since timestamptz
);
