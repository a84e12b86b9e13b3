-- Statements of months (D90): the block with which each month begins, the balances of the wallets before it, and the
-- gas that wallets paid themselves.

lock table payments, wallets, deposits in access exclusive mode;

-- What the wallet paid for the gas of the payment's transaction, in wei. Null if the wallet paid none, as when gas is
-- sponsored, and for payments that were settled before this column existed.
alter table payments add column gas_wei numeric(78, 0);

-- When the service noticed that the chain no longer contains the deposit, because a reorganization replaced its block and
-- its transaction was not mined again. Null for all others.
alter table deposits add column vanished_at timestamptz;

-- The first block of a month (UTC) on the chain of a mode. The block before it is the last one of the previous month.
create table month_blocks (
  mode text not null check (mode in ('test', 'live')),
  month text not null check (month ~ '^\d{4}-(0[1-9]|1[0-2])$'),
  first_block bigint not null check (first_block > 0),
  -- The hash of the block before. A balance counts only if it was read at this block.
  parent_hash text not null,
  -- Whether the block is so deep that no reorganization replaces it.
  is_final boolean not null default false,
  -- When the block is checked, or balances are read, the next time. Null if nothing is left to do.
  next_read_at timestamptz,
  primary key (mode, month)
);

-- The balance of a wallet when a month began: after the last block of the previous month, whose hash is here. A wallet
-- has no row if no node had the state of that block any more.
create table month_balances (
  workspace_id text not null,
  mode text not null check (mode in ('test', 'live')),
  wallet_address text not null,
  month text not null,
  balance_micro numeric(78, 0) not null check (balance_micro >= 0),
  block_hash text not null,
  primary key (workspace_id, mode, wallet_address, month),
  foreign key (workspace_id, mode, wallet_address) references wallets (workspace_id, mode, address)
);
