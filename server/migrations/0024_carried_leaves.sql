-- The leaves of a workspace that was moved here (D95): they stay in the transparency log of the cell where they were made,
-- so the move brings a copy of them with the proofs that this log contains them.

lock table workspaces, log_head in access exclusive mode;

-- The public key that verifies `checkpoint`, in the form of C2SP signed-note. Null until the log grows for the first time
-- after this column was added.
alter table log_head add column verifier_key text;

-- The logs of the cells in which the workspace was before, one for each time that it left one. Ids of moves are in the
-- order of time.
create table carried_logs (
  workspace_id text not null references workspaces (id),
  move_id text not null,
  checkpoint text not null,
  verifier_key text not null,
  primary key (workspace_id, move_id)
);

create table carried_leaves (
  workspace_id text not null,
  subject text not null,
  type text not null,
  move_id text not null,
  position bigint not null check (position >= 0),
  content text not null,
  -- The hashes that prove that the tree of the checkpoint contains the leaf: 32 bytes each, one after the other.
  proof bytea not null check (octet_length(proof) % 32 = 0),
  primary key (workspace_id, subject, type),
  foreign key (workspace_id, move_id) references carried_logs (workspace_id, move_id)
);
-- Hashes cannot be compressed.
alter table carried_leaves alter column proof set storage external;
