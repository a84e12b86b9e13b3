export type Delegations = ReturnType<typeof createDelegations>

/**
 * Remembers which wallets have the delegate's code, or will get it from a bundle that is not mined yet. To find this
 * out, the node must execute all pending transactions, so each wallet is looked up only once.
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
    /** Forgets a wallet, because one of its bundles failed. */
    forget: (caip2: string, walletId: string): void => void find(caip2).delete(walletId),
    /** Forgets all wallets of a chain, because the chain has lost blocks. */
    forgetAll: (caip2: string): void => void known.delete(caip2),
  }
}
