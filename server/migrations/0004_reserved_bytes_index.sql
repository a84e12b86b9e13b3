-- no transaction
-- The purchases for whose response something is reserved, in the order in which it is given back if no response comes.

create index concurrently if not exists purchases_reserving on purchases (created_at) where reserved_bytes > 0;
