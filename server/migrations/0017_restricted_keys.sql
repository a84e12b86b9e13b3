-- API keys can be restricted: to one agent, to some scopes, or to both (D56). Keys from before are unrestricted.

lock table agents, api_keys in access exclusive mode;

alter table api_keys
  -- The only agent as which the key may pay. Null if it may pay as every agent.
  add column agent_id text,
  -- What the key may do. Null means all scopes, including those that are added later.
  add column scopes text[],
  -- The last characters of the secret, by which people recognize the key. Null for keys from before.
  add column last4 text,
  add constraint api_keys_agent_fkey foreign key (account_id, mode, agent_id)
    references agents (account_id, mode, id),
  add constraint api_keys_scopes_check check (
    cardinality(scopes) > 0 and scopes <@ array['wallet:read', 'wallet:transfer', 'x402:pay']),
  add constraint api_keys_last4_check check (last4 ~ '^[0-9A-Za-z]{4}$');
