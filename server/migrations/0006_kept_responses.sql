-- Beside the responses of sellers, the responses of webhook receivers and rejected payment requests get a budget for each
-- workspace and mode (D93). If one of these budgets is full, the oldest rows go first, so its rows may exceed it for a
-- moment.

lock table stored_bytes, payment_refusals, delivery_attempts in access exclusive mode;

alter table stored_bytes
  drop constraint stored_bytes_kind_check,
  add constraint stored_bytes_kind_check check (kind in ('answers', 'responses', 'refusals')),
  drop constraint stored_bytes_budget,
  add constraint stored_bytes_budget check (kind <> 'answers' or used_bytes <= budget_bytes);

-- What of the row is counted in stored_bytes. It is 0 for rows that were stored before they were counted.
alter table payment_refusals add column bytes integer not null default 0;

-- What of the response is counted in stored_bytes, and the mode of the delivery. A response that is not longer than its
-- own row is not counted, and has no mode here.
alter table delivery_attempts
  add column mode text,
  add column response_bytes integer not null default 0;
