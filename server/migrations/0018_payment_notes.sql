-- What people write about a payment, for their books: a note, a category, and a link such as one to the invoice. Agents
-- cannot read or write it.

lock table payments in share row exclusive mode;

create table payment_notes (
  workspace_id text not null,
  mode text not null check (mode in ('test', 'live')),
  payment_id text not null,
  note text check (char_length(note) between 1 and 1000),
  category text check (char_length(category) between 1 and 60),
  link text check (char_length(link) between 1 and 2048),
  updated_at timestamptz not null,
  primary key (workspace_id, payment_id),
  foreign key (workspace_id, payment_id) references payments (workspace_id, id),
  check (num_nonnulls(note, category, link) > 0)
);
