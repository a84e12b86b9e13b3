import { listOf, narrow, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertOwnerRequest, STORED_ROW, toStored } from './owner-requests-store.ts'
import type { WithdrawalRequest } from './withdrawal-request.ts'

/** The part of a request that its column `details` contains. */
interface Details {
  readonly payment_id: string
  readonly to: Address
  readonly amount_micro: string
  readonly amount_usdc: string
  readonly sponsored: boolean
  readonly request_expires_at: string
}

const REQUEST_ROW = { ...STORED_ROW, details: narrow<Details>(tables.owner_requests.details) }

export function insertWithdrawalRequest(request: WithdrawalRequest): Query<boolean> {
  const details: Details = {
    payment_id: request.paymentId,
    to: request.to,
    amount_micro: request.amountMicro.toString(),
    amount_usdc: request.amountUsdc,
    sponsored: request.sponsored,
    request_expires_at: request.requestExpiresAt.toISOString(),
  }
  return insertOwnerRequest(request, { kind: 'withdraw', details })
}

/** Uses the primary key. */
export function findWithdrawalRequest(workspaceId: string, id: string): Query<WithdrawalRequest | null> {
  return {
    name: 'find_withdrawal_request',
    text: `select ${listOf(REQUEST_ROW)} from owner_requests where workspace_id = $1 and id = $2 and kind = 'withdraw'`,
    values: [workspaceId, id],
    read: firstOrNull(REQUEST_ROW, toRequest),
  }
}

/**
 * Records who submitted the owner's signature, before it is sent. Changes nothing if the request was already submitted.
 */
export function markWithdrawalSubmitted(
  { workspaceId, id }: WithdrawalRequest,
  { actor, now }: { actor: Actor; now: Date },
): Query<boolean> {
  return {
    name: 'mark_withdrawal_submitted',
    text: `update owner_requests set submitted_by = $3, done_at = $4
      where workspace_id = $1 and id = $2 and kind = 'withdraw' and submitted_by is null`,
    values: [workspaceId, id, JSON.stringify({ kind: actor.kind, id: actor.id }), now],
    read: changed,
  }
}

function toRequest(row: RowOf<typeof REQUEST_ROW>): WithdrawalRequest {
  const { details } = row
  return {
    ...toStored(row),
    paymentId: details.payment_id,
    to: details.to,
    amountMicro: microUsdc(BigInt(details.amount_micro)),
    amountUsdc: details.amount_usdc,
    sponsored: details.sponsored,
    requestExpiresAt: new Date(details.request_expires_at),
  }
}
