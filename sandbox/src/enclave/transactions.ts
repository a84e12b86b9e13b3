import { keccak256, stringToHex } from 'viem/utils'
import type { Hash } from 'viem'
import { notFound } from './errors.ts'
import type { TransactionRecord, TransactionStatus } from './records.ts'
import type { Store } from './store.ts'

interface Told {
  readonly status: TransactionStatus
  readonly hash: Hash | null
}

/** Formats a transaction as the API returns it. */
export function formatTransaction(tx: TransactionRecord) {
  const { status, hash } = describeStatus(tx, Date.now())
  return {
    id: tx.id,
    wallet_id: tx.walletId,
    caip2: tx.caip2,
    status,
    transaction_hash: hash,
    created_at: tx.createdAt,
    reference_id: tx.referenceId,
    sponsored: tx.userOperationHash !== null,
    ...(tx.userOperationHash === null ? {} : { user_operation_hash: tx.userOperationHash }),
  }
}

export function getTransaction(store: Store, id: string): TransactionRecord {
  const tx = store.findTransaction(id)
  if (tx === null) throw notFound('Transaction')
  return tx
}

/** Returns the status that the API reports for a send. It is the true status, unless the send has a fault. */
function describeStatus(tx: TransactionRecord, nowMs: number): Told {
  const { status, hash, fault } = tx
  if (fault === null || nowMs < tx.shownAt) return { status, hash }
  switch (fault) {
    case 'two_in_one_bundle':
      return { status, hash }
    case 'never_gets_hash':
      return { status: 'pending', hash: null }
    case 'reverted_without_hash':
      return { status: status === 'execution_reverted' ? status : 'pending', hash: null }
    // The API first reports `pending`, and then a failure. With the fault `failed_lands_later`, the send is bundled
    // after the API has reported the failure.
    case 'failed_lands_later':
    case 'failed_never_lands':
      return { status: 'failed', hash }
    case 'provider_error':
    case 'provider_error_lands':
      return { status: 'provider_error', hash }
    case 'replaced':
    case 'replaced_old_hash':
      if (hash === null) return { status: 'broadcasted', hash: hashOfReplaced(tx) }
      return { status: 'replaced', hash: fault === 'replaced' ? hash : hashOfReplaced(tx) }
  }
}

/** Returns a hash that no transaction on the chain has. */
function hashOfReplaced({ id }: TransactionRecord): Hash {
  return keccak256(stringToHex(id))
}
