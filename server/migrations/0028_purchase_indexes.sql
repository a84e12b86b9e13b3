-- no transaction
-- Validates the constraints of 0027 and builds its indexes, while payments go on. No string here holds a semicolon.

alter table payments validate constraint payments_authorization_nonce_check;
alter table payments validate constraint payments_kind_check;
alter table payments validate constraint payments_members_check;
alter table payments validate constraint payments_allowance_check;
alter table payments validate constraint payments_authorization_check;
alter table payments validate constraint payments_authorization_end_check;

-- One authorization is one purchase. A challenge of MPP prescribes its nonce, so it can be paid once.
create unique index concurrently if not exists payments_by_authorization
  on payments (mode, wallet_address, authorization_nonce) where authorization_nonce is not null;
-- The purchases that the chain has not decided yet, in the order in which they are due.
create index concurrently if not exists authorizations_awaiting_chain on payments (mode, next_look_at, id)
  where status = 'pending' and kind = 'x402';
-- What the reconciler looks up. The chain alone decides about a purchase.
create index concurrently if not exists payments_to_reconcile on payments (mode, next_look_at, id)
  where status = 'pending' and kind <> 'x402';
drop index concurrently if exists payments_due_for_look;
-- An agent's payments from one wallet, for the ledger.
create index concurrently if not exists payments_from_wallet on payments (account_id, mode, wallet_address, id)
  where kind <> 'withdrawal';
drop index concurrently if exists payments_of_wallet;
