-- A purchase that was paid and not delivered stays in the list of such purchases until a member has dealt with it, for
-- example because the seller has paid the money back. The audit log says so too (D70a).

lock table purchases in access exclusive mode;

alter table purchases
  add column resolved_at timestamptz,
  -- The id of the member.
  add column resolved_by text,
  -- What the member wrote about it.
  add column resolution text;
