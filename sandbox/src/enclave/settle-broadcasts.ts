import type { Hash } from 'viem'
import type { ChainNode, LandedOperation } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import { BUNDLE_RETRY_MS } from './limits.ts'
import type { BroadcastRecord, TransactionRecord } from './records.ts'

type Settling = Pick<EnclaveContext, 'store' | 'delegations'>
type Landed = ReadonlyMap<string, LandedOperation | null>

/**
 * Reads the receipts of the broadcasts, and records the outcome of each send in them. Returns the broadcasts that have
 * no receipt yet.
 */
export async function settleMined(
  context: Settling,
  chain: ChainNode,
  open: readonly BroadcastRecord[],
): Promise<BroadcastRecord[]> {
  if (open.length === 0) return []
  const { store } = context
  const receipts = await chain.findReceipts(open.map(({ hash }) => hash))
  const mined = open.flatMap(({ hash }, index) => {
    const receipt = receipts[index] ?? null
    return receipt === null ? [] : [{ hash, receipt, sends: store.listCarried(hash) }]
  })
  const strayed = mined.flatMap(({ receipt, sends }) =>
    sends.filter((tx) => tx.operation !== null && !receipt.operations.has(nameOf(tx))),
  )
  const landed = await findLanded(chain, strayed)
  store.inTransaction(() => {
    for (const { hash, receipt, sends } of mined) {
      store.closeBroadcast(hash, 'mined', receipt.blockNumber)
      for (const tx of sends) {
        const succeeded = tx.operation === null ? receipt.succeeded : receipt.operations.get(nameOf(tx))
        if (succeeded === undefined) settleStrayed(context, tx, landed)
        else settle(store, tx, { hash, succeeded, blockNumber: receipt.blockNumber })
      }
    }
  })
  return open.filter((_, index) => (receipts[index] ?? null) === null)
}

/**
 * Records that other transactions have used the nonces of these broadcasts. If such a broadcast is a wallet's own
 * transaction, it has failed. If it is a bundle, its operations are bundled again.
 */
export async function settleLost(context: Settling, chain: ChainNode, lost: readonly BroadcastRecord[]): Promise<void> {
  if (lost.length === 0) return
  const { store } = context
  const sends = new Map(lost.map(({ hash }) => [hash, store.listCarried(hash)]))
  const operations = [...sends.values()].flat().filter(({ operation }) => operation !== null)
  const landed = await findLanded(chain, operations)
  store.inTransaction(() => {
    for (const [hash, carried] of sends) {
      store.closeBroadcast(hash, 'lost', null)
      for (const tx of carried) {
        if (tx.operation === null) store.failTransaction(tx.id, hash)
        else settleStrayed(context, tx, landed)
      }
    }
  })
}

/**
 * Finds the transactions that executed these operations. The receipt of their own bundle does not contain the
 * operations, but another bundle may have executed them.
 */
async function findLanded(chain: ChainNode, strayed: readonly TransactionRecord[]): Promise<Landed> {
  return new Map(await Promise.all(strayed.map(async (tx) => [tx.id, await chain.findOperation(nameOf(tx))] as const)))
}

function settleStrayed({ store, delegations }: Settling, tx: TransactionRecord, landed: Landed): void {
  const found = landed.get(tx.id) ?? null
  // The bundle may have failed because the wallet had no code yet, so the wallet's code is checked again for the next
  // bundle.
  delegations.forget(tx.caip2, tx.walletId)
  if (found === null) store.uncarry(tx.id, Date.now() + BUNDLE_RETRY_MS)
  else settle(store, tx, found)
}

function settle(store: EnclaveContext['store'], { id }: TransactionRecord, found: LandedOperation): void {
  const { hash, blockNumber, succeeded } = found
  store.settleTransaction(id, { status: succeeded ? 'confirmed' : 'execution_reverted', hash, blockNumber })
}

function nameOf({ id, userOperationHash }: TransactionRecord): Hash {
  if (userOperationHash === null) throw new Error(`Transaction ${id} is not a user operation.`)
  return userOperationHash
}
