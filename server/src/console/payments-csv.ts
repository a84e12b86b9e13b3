import { NO_NOTE, type PaymentNote } from '../domain/payment-notes/payment-note.ts'
import type { ListedPayment } from '../domain/purchases/purchase-summary.ts'
import { coinOf, formatCoin } from '../values/gas.ts'
import { formatAmount } from '../values/money.ts'
import type { TimeZone } from '../values/time-zone.ts'
import type { CsvRow } from './csv.ts'
import { formatListedPayment } from './format-payment.ts'

/** The columns of exported payments. `amount_usdc` has what has moved, so that its sum is what was paid. */
export const PAYMENT_FILE_COLUMNS = [
  ...([
    'id',
    'created_at',
    'confirmed_at',
    'status',
    'failure_code',
    'kind',
    'agent_id',
    'from',
    'wallet_name',
  ] as const),
  ...(['to', 'recipient_name', 'amount_usdc', 'requested_usdc', 'currency', 'fee', 'fee_currency', 'memo'] as const),
  ...(['resource', 'delivery', 'block_number', 'tx_hash', 'idempotency_key', 'grant_id', 'note'] as const),
  ...(['category', 'link', 'time_zone'] as const),
]

/** What an export needs beside the payments. */
export interface PaymentNames {
  readonly zone: TimeZone
  readonly chainId: number
  /** The names of wallets and recipients, by their addresses. */
  readonly wallets: ReadonlyMap<string, string>
  readonly recipients: ReadonlyMap<string, string>
  /** What people wrote about the payment. */
  readonly note?: PaymentNote | undefined
}

/**
 * Formats a payment for a file. The URL of a purchase's resource is exported without its query, because a query may
 * contain secrets.
 */
export function toPaymentRow(
  payment: ListedPayment,
  { zone, chainId, wallets, recipients, note = NO_NOTE }: PaymentNames,
): CsvRow<(typeof PAYMENT_FILE_COLUMNS)[number]> {
  const { purchase, ...row } = formatListedPayment(payment)
  const isConfirmed = payment.status === 'confirmed'
  return {
    ...row,
    created_at: zone.format(payment.createdAt),
    confirmed_at: isConfirmed && payment.settledAt !== null ? zone.format(payment.settledAt) : null,
    wallet_name: wallets.get(payment.walletAddress) ?? null,
    recipient_name: recipients.get(payment.to) ?? null,
    amount_usdc: isConfirmed ? formatAmount(payment.amountMicro) : null,
    requested_usdc: formatAmount(payment.amountMicro),
    currency: 'USDC',
    fee: payment.gasWei === null ? null : formatCoin(payment.gasWei),
    fee_currency: payment.gasWei === null ? null : coinOf(chainId),
    block_number: isConfirmed ? String(payment.minedBlock) : null,
    resource: purchase?.resource_url ?? null,
    delivery: purchase?.delivery ?? null,
    ...note,
    time_zone: zone.name,
  }
}
