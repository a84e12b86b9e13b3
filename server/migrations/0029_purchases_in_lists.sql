-- no transaction
-- What the dashboard shows about purchases. Can be applied again after a failure. No string here holds a semicolon.

-- The resource that a rejected request would have bought, without its query, which may hold secrets. Null for a request
-- of another kind. This is the only statement here that locks a table, and it does not read its rows.
alter table payment_refusals add column if not exists resource_url text;
-- The purchases whose goods have not come, newest first.
create index concurrently if not exists purchases_undelivered on purchases (account_id, mode, payment_id)
  where delivery in ('failed', 'unknown');
