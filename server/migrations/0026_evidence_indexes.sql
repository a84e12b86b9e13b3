-- no transaction
-- What evidence (D81) contains about a grant: when it was activated, suspended and revoked, and the stops in whose scope
-- it is. The scope of a stop is an agent, a wallet, or empty for a whole mode.

create index concurrently if not exists audit_entries_about_grants on audit_entries (log_id, subject, action, id)
  where action in ('grant.activated', 'grant.suspended', 'grant.revoked', 'agents.stopped');
create index concurrently if not exists stops_by_scope
  on stops (workspace_id, mode, coalesce(agent_id, wallet_address, ''), id);
