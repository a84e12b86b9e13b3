-- no transaction
-- The indexes of 0006, built while payments go on.

-- One Transfer log settles one payment (D24c). Also finds the payments that share a transaction.
create unique index concurrently if not exists payments_one_per_transfer_log
  on payments (mode, tx_hash, log_index) where tx_hash is not null;
-- What is due to be looked up.
create index concurrently if not exists payments_due_for_look
  on payments (mode, next_look_at, id) where status = 'pending';
-- What waits for the chain. Its condition has `<>`, which no other small index has, so that the watcher reads a page of it
-- and not everything that is pending.
create index concurrently if not exists payments_awaiting_chain
  on payments (mode, created_at, id) where status <> 'confirmed' and status <> 'failed' and tx_hash is not null;
drop index concurrently if exists payments_unsettled;
-- Nothing reads it any more: `payments_holding_balance` serves what it served.
drop index concurrently if exists payments_pending_of_wallet;
