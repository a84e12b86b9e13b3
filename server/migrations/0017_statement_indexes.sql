-- no transaction
-- What statements read of a wallet in the order of the chain: its deposits, and its failed payments for whose gas it
-- paid. The oldest wallet of a mode, before which no month needs a balance. And the deposits of some blocks, which are
-- checked after a reorganization.

create index concurrently if not exists deposits_by_block
  on deposits (workspace_id, mode, wallet_address, block_number, id) include (amount_micro)
  where vanished_at is null;
create index concurrently if not exists deposits_by_chain on deposits (mode, block_number);
create index concurrently if not exists payments_failed_with_gas
  on payments (workspace_id, mode, wallet_address, mined_block) where status = 'failed' and gas_wei is not null;
create index concurrently if not exists wallets_by_time on wallets (mode, created_at);
