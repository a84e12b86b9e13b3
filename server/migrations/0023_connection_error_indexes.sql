-- no transaction
-- The indexes by which the errors of a workspace's connections are listed. Without them, a plan can read the connections
-- of all workspaces. No string here holds a semicolon.

-- The connections of a workspace whose code was never exchanged for tokens.
create index concurrently if not exists connections_not_exchanged on connections (account_id, mode, expires_at)
  where connected_at is null and revoked_at is null;
-- Whether a person connected the same client again. Also finds what still refers to a deleted client.
create index concurrently if not exists connections_of_client_and_user on connections (client_id, user_id, account_id);
drop index concurrently if exists connections_by_client;
