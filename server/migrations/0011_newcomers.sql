-- Nothing stays for ever of people who signed up and never belonged to a workspace. The indexes are 0012.

lock table users in access exclusive mode;

-- When the person first belonged to a workspace. Until then the audit log, which is never deleted from, holds nothing of
-- them; after 30 days without it they are deleted. A row that the version before made or makes stays: its sign-up is in
-- the log already. Hence the default, which this version never uses.
alter table users add column joined_at timestamptz default '-infinity';
