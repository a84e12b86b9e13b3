-- no transaction
-- The indexes of 0013, and the validation of its constraints, while payments go on. No string here holds a semicolon.

-- Of one slot, at most one grant is active and at most one pending: the one that replaces the active one, or the first.
create unique index concurrently if not exists grants_one_active_per_slot
  on grants (account_id, mode, wallet_address, slot) where status = 'active' and slot is not null;
create unique index concurrently if not exists grants_one_pending_per_slot
  on grants (account_id, mode, wallet_address, slot) where status = 'pending' and slot is not null;

-- Withdrawals are not in it, so that a wallet with many withdrawals does not slow down a change of its owners.
create index concurrently if not exists owner_requests_open on owner_requests (account_id, mode, wallet_address, id)
  where kind <> 'withdraw' and done_at is null;

alter table wallets validate constraint wallets_owner_check;
alter table grants validate constraint grants_policy_check;
alter table grants validate constraint grants_slot_fkey;
alter table payments validate constraint payments_kind_check;
alter table payments validate constraint payments_members_check;
alter table payments validate constraint payments_allowance_check;
alter table payments validate constraint payments_sent_once_check;
