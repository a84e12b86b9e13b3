-- no transaction
-- A refused payment says whether the agent's grant on the wallet was revoked. An agent can have any number of revoked
-- grants, so this index finds one of them without reading the others.

create index concurrently if not exists grants_revoked_by_agent
  on grants (account_id, mode, agent_id, wallet_address) where status = 'revoked';

-- A wallet passkey whose signature counter goes back may have been copied. So the service stores the highest counter
-- that it saw, and when it saw one last. 0 stands for a passkey that does not count, and for one that was not used yet.
alter table wallet_passkeys add column if not exists counter bigint not null default 0;
alter table wallet_passkeys add column if not exists counted_at timestamptz;
