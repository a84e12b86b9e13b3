-- The restores of this database from a backup that `npm run after-restore` has dealt with.

create table restores (
  -- When the command was first run for this restore. API keys that were made later are not held.
  restored_at timestamptz primary key,
  -- Null until everything is found that may still have landed on a chain after the restore.
  finished_at timestamptz check (finished_at >= restored_at)
);
