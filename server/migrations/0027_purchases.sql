-- Agents pay for HTTP resources (decision 0047). The indexes are built, and the new constraints validated, in 0028.

lock table grants, payments in access exclusive mode;

alter table grants
  -- Whether the grant allows purchases (D67). If so, its policy at the enclave also has the rule for EIP-3009.
  add column x402 boolean not null default false;

alter table payments
  -- The EIP-3009 authorization of a purchase, as it is signed. It can be used on the chain before `valid_before` only.
  add column authorization_nonce text,
  add column valid_before timestamptz,
  add constraint payments_authorization_nonce_check check (authorization_nonce ~ '^0x[0-9a-f]{64}$') not valid,
  drop constraint payments_kind_check,
  add constraint payments_kind_check check (kind in ('transfer', 'withdrawal', 'x402')) not valid,
  drop constraint payments_members_check,
  -- A transfer or purchase was admitted for an agent under the limits of a grant. An owner's withdrawal was not.
  add constraint payments_members_check check (
    case kind
      when 'withdrawal'
        then num_nonnulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro, allowance_month) = 0
      else num_nulls(agent_id, grant_id, max_per_tx_micro, daily_cap_micro, spent_24h_micro) = 0
    end
  ) not valid,
  drop constraint payments_allowance_check,
  add constraint payments_allowance_check check (
    (mode = 'live' and kind <> 'withdrawal') = (allowance_month is not null)
  ) not valid,
  add constraint payments_authorization_check check (
    case kind
      when 'x402' then num_nulls(authorization_nonce, valid_before, first_block) = 0
        and valid_before > created_at and valid_before <= created_at + interval '300 seconds'
      else num_nonnulls(authorization_nonce, valid_before) = 0
    end
  ) not valid,
  -- A signed authorization ends by its own use, or by proof that it was not used. A process of an older version that
  -- does not know purchases would otherwise end one with a code of its own, and so free an amount that is still owed.
  add constraint payments_authorization_end_check check (
    kind <> 'x402' or case status
      when 'failed' then failure_code in ('enclave_refused', 'authorization_expired', 'authorization_canceled')
      when 'confirmed' then log_index is not null
      else true
    end
  ) not valid;

-- What a purchase buys. The money is in the row of `payments` with the same id.
create table purchases (
  account_id text not null,
  mode text not null check (mode in ('test', 'live')),
  payment_id text not null,
  protocol text not null check (protocol in ('x402_v2', 'x402_v1', 'mpp')),
  -- The URL that asked for the payment, without its query and fragment, which may hold secrets.
  resource_url text not null check (char_length(resource_url) between 1 and 2048),
  host text not null check (char_length(host) between 1 and 261),
  method text not null check (char_length(method) between 1 and 16),
  -- What the seller says it sells. Untrusted.
  description text check (char_length(description) <= 200),
  -- The SHA-256 of the agent's request, to tell a retry from another request with the same idempotency key.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- The complete URL and the offer that was accepted, as JSON. Sealed, because the URL may hold secrets.
  order_sealed bytea not null,
  -- The name and value of the header that pays, with the signature. Sealed. Null until the enclave has signed.
  header_sealed bytea,
  -- Null if the agent fetches the resource itself.
  delivery text check (delivery in ('delivered', 'failed', 'unknown')),
  -- How often the request that pays was sent.
  attempts integer not null default 0 check (attempts >= 0),
  -- Until then, one process works on the purchase, and others wait. It extends this time as long as it works.
  worked_until timestamptz,
  response_status integer check (response_status between 100 and 599),
  -- The seller's answer. Sealed, and deleted after 24 hours (D68).
  response_sealed bytea,
  responded_at timestamptz,
  created_at timestamptz not null,
  primary key (account_id, payment_id),
  foreign key (account_id, payment_id) references payments (account_id, id),
  check ((response_status is null) = (responded_at is null)),
  check (response_sealed is null or responded_at is not null),
  check (response_sealed is null or header_sealed is not null)
);
-- Finds the answers whose time is over.
create index purchases_kept on purchases (responded_at) where response_sealed is not null;
create index purchases_by_time on purchases (account_id, mode, created_at) include (host, payment_id);
