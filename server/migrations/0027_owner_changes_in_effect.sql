-- Whether a signed change of a wallet's owners has had an effect. The signature is kept before the enclave is called, which
-- may refuse it or never receive it. Evidence (D81) leaves out a change without an effect: who owns a wallet follows from
-- the changes in it. Null for other kinds of signatures, and for those that were kept before this column existed.

lock table owner_signatures in access exclusive mode;

alter table owner_signatures add column took_effect boolean;
