import { all, countChanged, type Query } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'
import type { Payment, TxHash } from './payment.ts'
import { movePayment, PAYMENT_COLUMNS, PAYMENT_ROW, statusIs, toPayment } from './payments-store.ts'

interface Block {
  readonly number: bigint
  readonly hash: string
}

/** Lists the pending purchases that are due for a look at the chain. Uses the index `authorizations_awaiting_chain`. */
export function listDueAuthorizations(mode: Mode, now: Date, limit: number): Query<Payment[]> {
  return {
    name: 'list_due_authorizations',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and kind = 'x402' and next_lookup_at <= $2
      order by next_lookup_at, id limit $3`,
    values: [mode, now, limit],
    read: all(PAYMENT_ROW, toPayment),
  }
}

/** Records when to look at each of these purchases again, and where its search continues. Uses the primary key. */
export function postponeLookups(lookups: readonly { payment: Payment; nextLookupAt: Date }[]): Query<number> {
  return {
    name: 'postpone_authorization_lookups',
    text: `update payments set lookups = lookups + 1, next_lookup_at = l.next_lookup_at, searched_block = l.searched_block
      from unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[])
        as l (workspace_id, id, next_lookup_at, searched_block)
      where payments.workspace_id = l.workspace_id and payments.id = l.id and payments.${statusIs('pending')}
        and kind = 'x402'`,
    values: [
      lookups.map(({ payment }) => payment.workspaceId),
      lookups.map(({ payment }) => payment.id),
      lookups.map(({ nextLookupAt }) => nextLookupAt),
      lookups.map(({ payment }) => payment.searchedBlock?.toString() ?? null),
    ],
    read: countChanged,
  }
}

/**
 * Records the block in which the authorization was used, or null if a reorganization has removed that block. The
 * transaction itself is recorded only when it is final. Otherwise, other parts of the service would mistake the
 * purchase for a transfer that has a receipt.
 */
export function markAuthorizationMined(payment: Payment, block: Block | null): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_authorization_mined',
    move: 'note',
    set: 'mined_block = $3, mined_block_hash = $4',
    guard: `kind = 'x402'`,
    values: [block?.number ?? null, block?.hash ?? null],
  })
}

/**
 * Moves the purchase to `confirmed` by the Transfer log that its authorization made. Fails with a violation of the
 * unique index `payments_one_per_transfer_log` if that log has settled another payment.
 */
export function markAuthorizationConfirmed(
  payment: Payment,
  { txHash, block, logIndex }: { txHash: TxHash; block: Block; logIndex: bigint },
  now: Date,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_authorization_confirmed',
    move: 'confirm',
    set: `tx_hash = $3, mined_block = $4, mined_block_hash = $5, log_index = $6, settled_at = $7,
      attempt_until = null, request_expires_at = null, pending_reason = null`,
    guard: `kind = 'x402'`,
    values: [txHash, block.number, block.hash, logIndex, now],
  })
}

/** Records that the authorization was used, but not for the transfer that was signed. */
export function noteTransferNotFound(payment: Payment): Query<Payment | null> {
  return movePayment(payment, {
    name: 'note_authorization_without_transfer',
    move: 'note',
    set: `pending_reason = 'transfer_not_found'`,
    guard: `kind = 'x402'`,
    values: [],
  })
}
