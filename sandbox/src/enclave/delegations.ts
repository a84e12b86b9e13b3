export type Delegations = ReturnType<typeof createDelegations>

/**
 * The wallets that have the delegate's code, or will have it by a bundle on its way. Asking a node what its waiting
 * transactions lead to makes it execute them all, so it is asked once a wallet.
 */
export function createDelegations() {
  const known = new Map<string, Set<string>>()
  const find = (caip2: string): Set<string> => {
    const wallets = known.get(caip2) ?? new Set()
    known.set(caip2, wallets)
    return wallets
  }
  return {
    has: (caip2: string, walletId: string): boolean => find(caip2).has(walletId),
    add: (caip2: string, walletId: string): void => void find(caip2).add(walletId),
    /** A bundle of the wallet came to nothing. */
    forget: (caip2: string, walletId: string): void => void find(caip2).delete(walletId),
    /** The chain has lost blocks. */
    forgetAll: (caip2: string): void => void known.delete(caip2),
  }
}
