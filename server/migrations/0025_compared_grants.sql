-- Each active grant is compared with the record of the enclave once a day, so an altered term is found even if nobody opens
-- the grant's page (D79).

lock table grants in access exclusive mode;

-- When the grant is compared next.
alter table grants add column compare_at timestamptz default '1970-01-01 00:00:00+00';
-- Since when the enclave has had other terms for the grant. Null if they were the same when they were last compared.
alter table grants add column differs_since timestamptz;

-- The condition is always true. It is there so that a statement that does not name the column is never planned with this
-- index.
create index grants_to_compare on grants (status, compare_at) where compare_at is not null;
create index grants_differing on grants (mode, workspace_id, id) where status = 'active' and differs_since is not null;
