-- One answer of a node may leave out the log of a deposit. So each block is read again when it is deep.

lock table deposit_cursors in access exclusive mode;

-- The last block that was read a second time. Null until the cursor first moves.
alter table deposit_cursors add column reread_block bigint check (reread_block >= 0);
