import type { ScanOrder } from '../../../db/bounded-scan-query.ts'
import { isId } from '../../../values/ids.ts'
import type { Payment } from '../../payments/payment.ts'

/** The orders of a list of payments. */
export const PAYMENT_SORTS = ['newest', 'oldest', 'largest', 'smallest'] as const

export type PaymentSort = (typeof PAYMENT_SORTS)[number]

/** A place in a list: after this payment, which need not exist. `amountMicro` counts only if the list is sorted by it. */
export interface PaymentPosition {
  readonly id: string
  readonly amountMicro: string
}

const POSITION_BY_AMOUNT = /^(\d{1,22})\.(\w+)$/

/** The amount as `payments_by_amount` contains it. No other statement uses this index by chance. */
export const INDEXED_AMOUNT = 'amount_micro + 0'

export const ORDERS: Readonly<Record<PaymentSort, ScanOrder>> = {
  newest: { keys: ['id'], direction: 'desc' },
  oldest: { keys: ['id'], direction: 'asc' },
  largest: { keys: ['amount_micro', 'id'], indexed: INDEXED_AMOUNT, direction: 'desc' },
  smallest: { keys: ['amount_micro', 'id'], indexed: INDEXED_AMOUNT, direction: 'asc' },
}

export function isByAmount(sort: PaymentSort): boolean {
  return sort === 'largest' || sort === 'smallest'
}

/** Returns the position of a payment as a page's `next` names it. */
export function formatPosition({ id, amountMicro }: Pick<Payment, 'id' | 'amountMicro'>, sort: PaymentSort): string {
  return isByAmount(sort) ? `${amountMicro}.${id}` : id
}

/** Parses the `next` of a page. Returns null if it is no position in a list of this order. */
export function parsePosition(text: string, sort: PaymentSort): PaymentPosition | null {
  const [, amountMicro = '', id = ''] = isByAmount(sort) ? (POSITION_BY_AMOUNT.exec(text) ?? []) : ['', '0', text]
  return isId('payment', id) ? { id, amountMicro } : null
}
