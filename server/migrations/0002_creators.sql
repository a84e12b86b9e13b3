-- What a process shares out is counted by the person who created the workspace, because one person may have many
-- workspaces (D91). Of a workspace that exists already, that is the member who joined first.
lock table workspaces, users in access exclusive mode;
alter table workspaces
  -- Null if the operator created the workspace.
  add column created_by text references users (id);
update workspaces set created_by = (
  select user_id from members where workspace_id = workspaces.id order by created_at, user_id limit 1);
create index workspaces_of_creator on workspaces (created_by) where created_by is not null;
