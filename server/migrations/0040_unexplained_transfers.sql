-- USDC that left a wallet without a payment of ours. A database that was restored from a backup does not know the
-- payments of the time that it lost. The chain does, so we compare the two.

lock table payments in access exclusive mode;

-- The last block whose outgoing transfers were compared with the payments of a mode.
create table ledger_cursors (
  mode text primary key check (mode in ('test', 'live')),
  block_number bigint not null check (block_number >= 0)
);

create table unexplained_transfers (
  account_id text not null references accounts (id),
  mode text not null check (mode in ('test', 'live')),
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  log_index bigint not null check (log_index >= 0),
  wallet_address text not null,
  to_address text not null check (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  amount_micro numeric(78, 0) not null check (amount_micro > 0),
  -- The nonce of the EIP-3009 authorization that made the transfer. Null for a plain transfer.
  authorization_nonce text check (authorization_nonce ~ '^0x[0-9a-f]{64}$'),
  block_number bigint not null check (block_number >= 0),
  -- The time of the block.
  mined_at timestamptz not null,
  found_at timestamptz not null,
  -- The payment that was recorded for this transfer when its idempotency key came back. Until then, the transfer counts
  -- towards the 24-hour limit of every grant of the wallet.
  payment_id text,
  primary key (account_id, mode, tx_hash, log_index),
  foreign key (account_id, mode, wallet_address) references wallets (account_id, mode, address),
  foreign key (account_id, payment_id) references payments (account_id, id)
);

create index unexplained_transfers_of_wallet on unexplained_transfers (account_id, mode, wallet_address, mined_at)
  include (amount_micro) where payment_id is null;
create index unexplained_transfers_by_find on unexplained_transfers (account_id, mode, found_at)
  where payment_id is null;

alter table payments
  -- When the payment was recorded from an unexplained transfer. No limit was checked for it then, because the money had
  -- already moved.
  add column recovered_at timestamptz,
  drop constraint payments_members_check,
  add constraint payments_members_check check (
    case kind
      when 'withdrawal'
        then num_nonnulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro, allowance_month,
          recovered_at) = 0
      else num_nulls(agent_id, grant_id) = 0
        and num_nulls(max_per_tx_micro, daily_cap_micro, spent_24h_micro)
          = case when recovered_at is null then 0 else 3 end
    end
  ) not valid;
