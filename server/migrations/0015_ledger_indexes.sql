-- no transaction
-- The indexes by which `GET /v1/ledger` reads a page, built while payments go on. No string here holds a semicolon.

-- The payments of one wallet. Withdrawals are listed by their time, because the id of a withdrawal is older than its row:
-- it is created when the owner is asked to sign.
create index concurrently if not exists payments_of_wallet on payments (account_id, mode, wallet_address, id)
  where kind = 'transfer';
create index concurrently if not exists payments_withdrawn on payments (account_id, mode, created_at, id)
  where kind = 'withdrawal';
-- The payments of one agent from one wallet are in `payments_in_window`, except those that failed.
create index concurrently if not exists payments_failed
  on payments (account_id, mode, wallet_address, agent_id, created_at) where status = 'failed';
