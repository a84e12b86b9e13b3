-- no transaction
-- The indexes of 0004, built while payments go on: each statement by itself, in no transaction, and such that the whole
-- can be run again. No string here holds a semicolon.

-- At most one active grant for an agent on a wallet (D14), and beside it at most one that waits to replace it. The index
-- that forbade the second one goes when these two stand.
create unique index concurrently if not exists grants_one_active_per_agent_and_wallet
  on grants (account_id, mode, agent_id, wallet_address) where status = 'active';
create unique index concurrently if not exists grants_one_pending_per_agent_and_wallet
  on grants (account_id, mode, agent_id, wallet_address) where status = 'pending';
drop index concurrently if exists grants_one_live_per_agent_and_wallet;
create index concurrently if not exists grants_live_by_agent
  on grants (account_id, mode, agent_id, wallet_address) where status <> 'revoked';
create index concurrently if not exists grants_listed on grants (account_id, mode, id);

-- Lists and charts: ids sort by time. By agent apart, so that a busy agent does not stand before a quiet one.
create index concurrently if not exists payments_listed on payments (account_id, mode, id);
create index concurrently if not exists payments_of_agent on payments (account_id, mode, agent_id, id);
create index concurrently if not exists deposits_listed on deposits (account_id, mode, id);

-- The few keys that are not revoked, among all that ever were.
create index concurrently if not exists api_keys_listed on api_keys (account_id, mode, id);
create index concurrently if not exists api_keys_not_revoked on api_keys (account_id, mode, id) where revoked_at is null;
-- What ends with an agent.
create index concurrently if not exists connections_of_agent
  on connections (account_id, mode, agent_id) where revoked_at is null;
