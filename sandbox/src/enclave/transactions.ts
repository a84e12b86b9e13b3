import { notFound } from './errors.ts'
import type { TransactionRecord } from './records.ts'
import type { Store } from './store.ts'

/** A transaction in its wire form. The hash is known from the moment of signing. */
export function formatTransaction(tx: TransactionRecord) {
  return {
    id: tx.id,
    wallet_id: tx.walletId,
    caip2: tx.caip2,
    status: tx.status,
    transaction_hash: tx.hash,
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
