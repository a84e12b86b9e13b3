-- The id of the HTTP request that created a payment, which its client has in the header `Request-Id`. So the client, the
-- receiver of a webhook and the operator can find the same request in their logs.

lock table payments in access exclusive mode;

alter table payments add column request_id text;
