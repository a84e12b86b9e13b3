import type { EnclaveContext } from './context.ts'
import { notFound } from './errors.ts'
import { getPolicy } from './policies.ts'
import { getQuorum } from './quorums.ts'
import { formatPem } from './public-key.ts'
import type { QuorumRecord, TransactionRecord } from './records.ts'
import { formatTransaction, getTransaction } from './transactions.ts'
import { getWallet } from './wallets.ts'

/**
 * Reads a wallet for a client. If the fault `reads_lag` was requested, returns the wallet as it was before its recent
 * changes. The enclave's own checks always use the current state.
 */
export function readWallet(context: EnclaveContext, id: string): unknown {
  return readLagging(context, 'Wallet', getWallet(context.store, id))
}

export function readPolicy(context: EnclaveContext, id: string): unknown {
  return readLagging(context, 'Policy', getPolicy(context.store, id))
}

export function readQuorum(context: EnclaveContext, id: string): unknown {
  const quorum = readLagging(context, 'Key quorum', getQuorum(context.store, id))
  return context.faults.takeReadFault('keys_as_pem') ? writeKeysAsPem(quorum) : quorum
}

function writeKeysAsPem(quorum: QuorumRecord): QuorumRecord {
  const authorization_keys = quorum.authorization_keys.map((member) => ({
    ...member,
    public_key: formatPem(member.public_key),
  }))
  return { ...quorum, authorization_keys }
}

export function readTransaction(context: EnclaveContext, id: string): unknown {
  const tx = tellTransaction(context, getTransaction(context.store, id))
  if (tx === null) throw notFound('Transaction')
  return tx
}

export function findTransactions(context: EnclaveContext, referenceId: string): unknown {
  const told = context.store.listByReference(referenceId).map((tx) => tellTransaction(context, tx))
  return { transactions: told.filter((tx) => tx !== null) }
}

function readLagging<Resource extends { readonly id: string }>(
  { faults, readLag }: EnclaveContext,
  what: string,
  current: Resource,
): Resource {
  if (!faults.takeReadFault('reads_lag')) return current
  const before = readLag.recall(current.id)
  if (before === null) throw notFound(what)
  return before === undefined ? current : (before as Resource)
}

/**
 * Formats a transaction. If the read should lag, returns null for a transaction that was created moments ago, and shows
 * an older transaction as if it had no outcome yet.
 */
function tellTransaction({ faults, readLag }: EnclaveContext, tx: TransactionRecord): unknown {
  if (!faults.takeReadFault('reads_lag')) return formatTransaction(tx)
  if (readLag.recall(tx.id) === null) return null
  if (tx.operation === null) return formatTransaction({ ...tx, status: 'broadcasted' })
  return formatTransaction({ ...tx, status: 'pending', hash: null, fault: null })
}
