import { all, type Query } from '../../../db/query.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Payment, PaymentStatus, TxHash } from '../payment.ts'
import type { Scanned } from '../scan/scan.ts'
import { readScan, scanText, textOfMode } from '../scan/store.ts'
import { PAYMENT_COLUMNS, toPayment } from '../store.ts'

export interface PaymentScan {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string | null
  /** Ids, or what sorts among them: from `from` on, below `below`. */
  readonly from: string
  readonly below: string
  readonly wallet: Address | null
  readonly status: PaymentStatus | null
  readonly txHash: TxHash | null
  /** Paid to it, or from it. */
  readonly address: Address | null
  /** In any case. */
  readonly memoPart: string | null
  readonly limit: number
  readonly scanRowsMax: number
}

const PARTS = {
  columns: PAYMENT_COLUMNS,
  table: 'payments',
  filter: `($4::text is null or wallet_address = $4) and ($5::text is null or status = $5)
    and ($6::text is null or tx_hash = $6) and ($7::text is null or to_address = $7 or wallet_address = $7)
    and ($8::text is null or memo ilike $8)`,
  limit: '$9',
  scanRowsMax: '$10',
}
const rangeOf = (mode: string): string => `account_id = $1 and mode = ${mode} and id >= $2 and id < $3`
const listText = textOfMode('list_payments', (mode) => scanText({ ...PARTS, range: rangeOf(mode) }))
const listTextOfAgent = textOfMode('list_payments_of_agent', (mode) =>
  scanText({ ...PARTS, range: `${rangeOf(mode)} and agent_id = $11` }),
)

/** Newest first. By `payments_listed`, those of an agent by `payments_of_agent`. */
export function listPaymentRows(scan: PaymentScan): Query<Scanned<Payment>> {
  const { accountId, mode, agentId, from, below, wallet, status, txHash, address, memoPart, limit, scanRowsMax } = scan
  const pattern = memoPart === null ? null : `%${escapePattern(memoPart)}%`
  const filter = [wallet, status, txHash, address, pattern]
  const values = [accountId, from, below, ...filter, limit, scanRowsMax]
  const read = readScan(toPayment)
  return agentId === null
    ? { ...listText(mode), values, read }
    : { ...listTextOfAgent(mode), values: [...values, agentId], read }
}

/** What a pattern would take for a wildcard stands for itself. */
function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`)
}

const newestText = textOfMode(
  'list_newest_payments',
  (mode) =>
    `select ${PAYMENT_COLUMNS} from payments where account_id = $1 and mode = ${mode} order by id desc limit $2`,
)

/** By `payments_listed`. */
export function listNewestPayments(accountId: string, mode: Mode, limit: number): Query<Payment[]> {
  return { ...newestText(mode), values: [accountId, limit], read: all(toPayment) }
}
