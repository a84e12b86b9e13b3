-- A seller chooses the status of its answer, and HTTP allows any three digits. The old constraint allowed 100 to 599, so
-- the answer to a request that had paid could not be stored. The status is also null if the database does not accept it
-- for another reason: the answer is kept in `response_sealed` all the same.

lock table purchases in access exclusive mode;

alter table purchases
  drop constraint purchases_response_status_check,
  drop constraint purchases_check;
