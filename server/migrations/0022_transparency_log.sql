-- The transparency log (D80): an append-only Merkle tree whose leaves say what happened, so that nobody can change, add or
-- remove anything later without being found out, not even with access to the database.

-- The changes that are not in the tree yet. The statement that makes a change adds a row for it, and a job makes leaves of
-- the rows. `number` orders two changes of which one waited for a lock of the other. Numbers of other changes may become
-- visible in another order, so the job takes the rows that it sees, and deletes them by their numbers.
create table log_queue (
  number bigint generated always as identity primary key,
  -- The workspace, user or OAuth client whose log contains the change.
  log_id text not null,
  type text not null check (type in ('audit', 'payment.decided', 'payment.ended')),
  -- The id of the audit entry or the payment.
  subject text not null,
  -- When the change was made.
  at timestamptz not null
);

create table log_leaves (
  -- The first leaf has position 0. There are no gaps.
  position bigint primary key check (position >= 0),
  log_id text not null,
  type text not null,
  subject text not null,
  -- Canonical JSON. The hash of these bytes is in the tree.
  content text not null
);
create unique index log_leaves_one_per_change on log_leaves (log_id, subject, type);

-- The database itself refuses to change a leaf, so no mistake in the service can do it.
create function refuse_change_of_leaves() returns trigger language plpgsql as $$
begin
  raise exception 'the transparency log is append-only';
end $$;
create trigger log_leaves_are_append_only before update or delete or truncate on log_leaves
  for each statement execute function refuse_change_of_leaves();

-- The hashes of the tree: 256 of one level in a row. The last row of a level may have fewer.
create table log_tiles (
  level integer not null check (level between 0 and 6),
  number bigint not null check (number >= 0),
  hashes bytea not null check (length(hashes) between 32 and 8192),
  check (length(hashes) % 32 = 0),
  primary key (level, number)
);
-- Hashes cannot be compressed.
alter table log_tiles alter column hashes set storage external;

-- The tree as it is now, in one row. Whoever grows the tree locks this row.
create table log_head (
  is_only boolean primary key check (is_only),
  -- The name of the log. Null before the first leaf. It never changes afterwards.
  origin text,
  -- The number of leaves.
  size bigint not null check (size >= 0),
  -- The signed checkpoint of this size. Null before the first leaf.
  checkpoint text,
  check ((size = 0) = (origin is null) and (size = 0) = (checkpoint is null))
);
insert into log_head (is_only, size) values (true, 0);
