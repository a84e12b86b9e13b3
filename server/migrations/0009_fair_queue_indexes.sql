-- no transaction
-- The indexes of 0008, built while payments go on: each statement by itself, in no transaction, and such that the whole
-- can be run again. No string here holds a semicolon.

-- What reserves a wallet's balance. Its condition is `settled_at is null`, which no other index has: payments are summed
-- by it, and not by an index that holds what is pending of every workspace.
create index concurrently if not exists payments_holding_balance
  on payments (account_id, mode, wallet_address, created_at, id) include (amount_micro, mined_block)
  where settled_at is null;
-- Replays that are still queued: a range is not replayed while there are any.
create index concurrently if not exists deliveries_replays_pending
  on deliveries (account_id, endpoint_id) where status = 'pending' and trigger = 'replay';
