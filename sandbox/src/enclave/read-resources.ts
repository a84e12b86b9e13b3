import type { EnclaveContext } from './context.ts'
import { notFound } from './errors.ts'
import { getPolicy } from './policies.ts'
import type { TransactionRecord } from './records.ts'
import { formatTransaction, getTransaction } from './transactions.ts'
import { getWallet } from './wallets.ts'

/** Reads by clients, which may be ordered to lag. The enclave's own checks never lag. */
export function readWallet(context: EnclaveContext, id: string): unknown {
  return readLagging(context, 'Wallet', getWallet(context.store, id))
}

export function readPolicy(context: EnclaveContext, id: string): unknown {
  return readLagging(context, 'Policy', getPolicy(context.store, id))
}

export function readTransaction(context: EnclaveContext, id: string): unknown {
  const tx = tellTransaction(context, getTransaction(context.store, id))
  if (tx === null) throw notFound('Transaction')
  return tx
}

export function findTransactions(context: EnclaveContext, referenceId: string): unknown {
  const tx = context.store.findTransactionByReference(referenceId)
  const told = tx === null ? null : tellTransaction(context, tx)
  return { transactions: told === null ? [] : [told] }
}

function readLagging({ faults, readLag }: EnclaveContext, what: string, current: { readonly id: string }): unknown {
  if (!faults.takeLaggingRead()) return current
  const before = readLag.recall(current.id)
  if (before === null) throw notFound(what)
  return before === undefined ? current : before
}

/** Null if the transaction did not exist a moment ago. Otherwise its state before it had any outcome. */
function tellTransaction({ faults, readLag }: EnclaveContext, tx: TransactionRecord): unknown {
  if (!faults.takeLaggingRead()) return formatTransaction(tx)
  if (readLag.recall(tx.id) === null) return null
  if (tx.operation === null) return formatTransaction({ ...tx, status: 'broadcasted' })
  return formatTransaction({ ...tx, status: 'pending', hash: null, fault: null })
}
