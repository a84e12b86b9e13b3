-- no transaction
-- Validates the constraint of 0040. It reads the whole table, so it does not hold the lock of that migration.

alter table payments validate constraint payments_members_check;
