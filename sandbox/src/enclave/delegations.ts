export type Delegations = ReturnType<typeof createDelegations>

/**
 * The wallets that have the delegate's code, or will get it from a bundle in flight. To answer this, the node executes
 * all pending transactions, so it is asked only once for each wallet.
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
    /** A bundle of the wallet failed. */
    forget: (caip2: string, walletId: string): void => void find(caip2).delete(walletId),
    /** The chain has lost blocks. */
    forgetAll: (caip2: string): void => void known.delete(caip2),
  }
}
