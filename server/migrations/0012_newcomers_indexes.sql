-- no transaction
-- The indexes of 0011, and those by which people, connections and what belongs to them are deleted: PostgreSQL looks for
-- what still refers to a deleted row, which without an index reads the whole table. No string here holds a semicolon.

create index concurrently if not exists users_never_joined on users (created_at) where joined_at is null;
create index concurrently if not exists connections_never_exchanged
  on connections (expires_at) where connected_at is null;

create index concurrently if not exists ceremonies_of_user on ceremonies (user_id) where user_id is not null;
create index concurrently if not exists invitations_of_creator on invitations (created_by) where created_by is not null;
create index concurrently if not exists connections_of_user on connections (user_id);
create index concurrently if not exists api_keys_of_creator on api_keys (created_by) where created_by is not null;
create index concurrently if not exists grants_of_activator on grants (activated_by) where activated_by is not null;

create index concurrently if not exists authorization_codes_of_connection
  on authorization_codes (account_id, connection_id);
create index concurrently if not exists access_tokens_of_connection on access_tokens (account_id, connection_id);
create index concurrently if not exists refresh_tokens_of_connection on refresh_tokens (account_id, connection_id);
