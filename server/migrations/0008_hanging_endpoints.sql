-- One workspace's backlog slows down nobody else's payments or webhooks: which endpoints hang. The indexes are 0009.

lock table webhook_endpoints in access exclusive mode;

-- Its last attempt had no prompt answer: such endpoints are sent to one attempt at a time, and apart from the others (D45).
alter table webhook_endpoints add column hangs boolean not null default false;
