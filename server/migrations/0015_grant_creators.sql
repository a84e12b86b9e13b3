-- The person who prepared a grant, so that colleagues see whose work waits for a signature. For grants that exist
-- already, only the audit log says who it was.
lock table grants, users in access exclusive mode;
alter table grants
  -- Null if the operator prepared the grant, or if the grant is older than this column.
  add column created_by text references users (id);
create index grants_of_creator on grants (created_by) where created_by is not null;
