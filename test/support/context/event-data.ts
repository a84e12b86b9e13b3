import type { Deposit } from '../../../server/src/domain/deposits/deposit.ts'
import { formatDeposit } from '../../../server/src/domain/deposits/format-deposit.ts'
import type { EventType } from '../../../server/src/domain/events/event.ts'
import { formatGrant } from '../../../server/src/domain/grants/format-grant.ts'
import type { Grant } from '../../../server/src/domain/grants/grant.ts'
import { formatPayment } from '../../../server/src/domain/payments/format-payment.ts'
import { newPayment } from '../../../server/src/domain/payments/new-payment.ts'
import type { PublicPayment } from '../../../server/src/domain/payments/payment-schema.ts'
import { createId } from '../../../server/src/values/ids.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { RECIPIENT } from './seed.ts'

const AMOUNT = microUsdc(1_500_000n)
const TX_HASH = `0x${'5e'.repeat(32)}` as const

/**
 * Makes the data of an event of the given type, as the service would write it at this time. The data contains all
 * fields of the event's subject, such as a payment, but the subject is not in the database.
 */
export function eventData(type: EventType, at: Date): Readonly<Record<string, unknown>> {
  switch (type) {
    case 'payment.created':
    case 'payment.confirmed':
    case 'payment.failed':
      return { payment: paymentData(type, at) }
    case 'inbound.received':
      return { deposit: formatDeposit(depositAt(at)) }
    case 'permission.granted':
    case 'permission.revoked':
    case 'permission.suspended':
    case 'permission.resumed':
      return { grant: formatGrant(grantAt(at, type)) }
    case 'webhook.test':
      return { webhook: { id: createId('endpoint', at) } }
  }
}

/** Makes the payment that an event of this type contains. */
export function paymentData(type: 'payment.created' | 'payment.confirmed' | 'payment.failed', at: Date): PublicPayment {
  const payment = newPayment({
    ...{ id: createId('payment', at), workspaceId: '', mode: 'test', kind: 'transfer' },
    ...{ agentId: 'shopper', grantId: createId('grant', at), walletAddress: RECIPIENT, to: RECIPIENT },
    ...{
      amountMicro: AMOUNT,
      amountUsdc: '1.500000',
      memo: 'é✓',
      idempotencyKey: null,
      credentialId: null,
      requestId: null,
    },
    ...{ createdAt: at, allowanceMonth: null, attemptUntil: null, requestExpiresAt: null, firstBlock: null },
    authorization: null,
  })
  switch (type) {
    case 'payment.created':
      return formatPayment(payment)
    case 'payment.confirmed':
      return formatPayment({ ...payment, status: 'confirmed', txHash: TX_HASH, acceptedAt: at, settledAt: at })
    case 'payment.failed':
      return formatPayment({ ...payment, status: 'failed', failureCode: 'reverted', txHash: TX_HASH, settledAt: at })
  }
}

function depositAt(at: Date): Deposit {
  return {
    ...{ workspaceId: '', id: createId('deposit', at), mode: 'test', wallet: RECIPIENT, from: RECIPIENT },
    ...{ amountMicro: AMOUNT, txHash: TX_HASH, position: 0, blockNumber: 100n, createdAt: at },
  }
}

function grantAt(at: Date, type: `permission.${string}`): Grant {
  const isRevoked = type === 'permission.revoked'
  return {
    ...{ id: createId('grant', at), workspaceId: '', mode: 'test', agentId: 'shopper', walletAddress: RECIPIENT },
    ...{ maxPerTxMicro: AMOUNT, dailyCapMicro: AMOUNT, recipientAllowlist: [], contractAllowlist: [RECIPIENT] },
    ...{
      expiresAt: null,
      x402: false,
      status: isRevoked ? 'revoked' : 'active',
      slot: 0,
      signingRequest: null,
      createdAt: at,
    },
    ...{ activatedAt: at, suspendedAt: type === 'permission.suspended' ? at : null, revokedAt: isRevoked ? at : null },
    ...{ replaces: null, replacedBy: null, activatedBy: null, createdBy: null },
  }
}
