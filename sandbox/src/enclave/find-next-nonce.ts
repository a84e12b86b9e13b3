import type { ChainNode } from './chain-node.ts'
import type { WalletRecord } from './records.ts'
import type { Store } from './store.ts'

/**
 * Finds a wallet's next nonce on a chain: the number of its mined transactions, or the nonce after the highest one that
 * the enclave has signed for the wallet, whichever is greater.
 */
export async function findNextNonce(
  store: Store,
  chain: ChainNode,
  { wallet, caip2 }: { wallet: WalletRecord; caip2: string },
): Promise<number> {
  const own = store.findLastNonce(wallet.id, caip2)
  const mined = await chain.countTransactions(wallet.address)
  return Math.max(own === null ? 0 : own + 1, mined)
}
