import { createHash } from 'node:crypto'
import { readReceipt, readSignedOffer, type SignedStatement } from '../../x402/signed-statements.ts'
import type { Context } from '../context.ts'
import { nameInLog, type Payment } from '../payments/payment.ts'
import type { FirstAnswer } from '../transparency-log/leaf.ts'
import type { ReceivedAnswer } from './keep-answer.ts'
import type { GoodsDelivery } from './purchase.ts'
import type { PurchaseOrder } from './seal-purchase.ts'

/** A response that has arrived from a seller. */
interface ArrivedResponse extends Omit<ReceivedAnswer, 'body'> {
  /** Null if no body arrived. */
  readonly body: Buffer | null
  readonly delivery: GoodsDelivery
  readonly respondedAt: Date
}

/**
 * Returns what is kept of a seller's response for good, if it is the first one that arrived completely: the response itself
 * is deleted after 24 hours (D68).
 */
export function readFirstAnswer(
  { logger }: Pick<Context, 'logger'>,
  { payment, order, response }: { payment: Payment; order: PurchaseOrder; response: ArrivedResponse },
): FirstAnswer {
  const { status, headers, body, isTruncated, delivery, respondedAt } = response
  const textOf = (statement: SignedStatement | null, what: string): string | null => {
    if (statement?.text === null)
      logger.warn({ ...nameInLog(payment), what }, "a seller's signed statement is too large")
    return statement?.text ?? null
  }
  return {
    at: respondedAt.toISOString(),
    status,
    delivery,
    // The hash of a part would not be that of what the seller has sent.
    response_sha256: body === null || isTruncated ? null : createHash('sha256').update(body).digest('base64url'),
    offer: textOf(readSignedOffer(order.offer), 'offer'),
    receipt: textOf(readReceipt(order.offer.protocol, headers), 'receipt'),
  }
}
