-- no transaction
-- Indexes for the search in the payments: by recipient, and by amount, which is also an order of the list. Addresses
-- are compared in lower case, so that the first characters of an address find it too. The amount is written as an
-- expression, so that PostgreSQL uses the index only for statements that write it in the same way. Otherwise it could
-- choose this index for a statement of the admission that compares amounts.

create index concurrently if not exists payments_to_recipient on payments (workspace_id, mode, lower(to_address), id);
create index concurrently if not exists payments_by_amount on payments (workspace_id, mode, (amount_micro + 0), id);
