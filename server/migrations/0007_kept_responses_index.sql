-- no transaction
-- The responses of webhook receivers that are counted in stored_bytes, the oldest first.

create index concurrently if not exists delivery_attempts_kept
  on delivery_attempts (workspace_id, mode, delivery_id, number) where response_bytes > 0;
