-- The host of a purchase is only the agent's claim if the agent fetches the resource itself. The sums of hosts keep such
-- purchases apart. All sums are made again.

lock table hourly_payment_sums, hourly_host_sums in access exclusive mode;
delete from hourly_payment_sums;
delete from hourly_host_sums;

alter table hourly_host_sums
  -- Whether the agents fetched the resources themselves, so that the host is their claim.
  add column is_claimed boolean not null,
  drop constraint hourly_host_sums_pkey,
  add primary key (account_id, mode, hour, host, is_claimed);
