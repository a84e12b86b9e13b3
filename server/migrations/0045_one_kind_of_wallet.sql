-- Every wallet has slots, and wallet passkeys own it. Every grant uses a slot, whose key signs.

lock table wallets, agents, grants, owner_requests in access exclusive mode;

alter table wallets drop column owner_credential_id, drop column owner_public_key;
alter table agents drop column signer_id, drop column signer_private_key_sealed;

-- The indexes by slot keep their condition `slot is not null`. With it, PostgreSQL uses them only for statements that
-- name the slot. Without it, it may choose them for the grants of a workspace, for which other indexes are better.
alter table grants drop column enclave_policy_id, alter column slot set not null;

alter table owner_requests drop constraint owner_requests_kind_check;
alter table owner_requests add constraint owner_requests_kind_check
  check (kind in ('add_owner', 'remove_owner', 'withdraw'));
