/**
 * How many slots a wallet gets in most tests. By default a wallet gets 50, and its creation sends 102 requests to the
 * enclave. All tests together create more than 400 wallets.
 */
export const FEW_SLOTS = 4
