-- A payment ends only by proof from the chain (D24a), so more is kept of what is known about its transfer: the user
-- operation that carries it, the sender's nonce, and which Transfer log settled it (D24c). Only what is done in a moment
-- stands here; the indexes are built in 0010.

lock table payments in access exclusive mode;

alter table payments
  -- When the last attempt's signed request expires, by the provider's clock. `fenced_until` is in that clock too.
  add column request_expires_at timestamptz,
  add column user_operation_hash text check (user_operation_hash ~ '^0x[0-9a-f]{64}$'),
  -- Of a plain transaction: once another transaction has used it, this one can never be mined.
  add column sender_nonce bigint check (sender_nonce >= 0),
  -- The chain's head before the payment was recorded, and up to which block its transfer has been searched for since.
  add column first_block bigint,
  add column searched_block bigint,
  -- The position in its block of the Transfer log that settled it.
  add column log_index bigint check (log_index >= 0),
  -- Why it is still pending, where that asks for attention.
  add column pending_reason text,
  -- When it is looked up next at the provider and on the chain, and how often it was. A row of the version before is
  -- looked up at once.
  add column next_look_at timestamptz not null default '-infinity',
  add column looks integer not null default 0 check (looks >= 0);

-- That a confirmed payment has a log_index, and only a pending one a reason, is for the next version to demand: the
-- version before is at work meanwhile, and writes neither.
