import type { QueryResultRow as Row } from 'pg'
import type { ChainTransfer } from './chain-transfers.ts'
import type { Payer } from './fault-fixture.ts'
import { referenceId } from '../../../server/src/domain/payments/derived-ids.ts'

export interface RecordedPayment {
  readonly id: string
  /** The payment's reference id at the enclave. */
  readonly referenceId: string
  readonly agentId: string
  readonly wallet: string
  readonly to: string
  readonly amountMicro: bigint
  readonly status: string
  readonly failureCode: string | null
  readonly pendingReason: string | null
  readonly idempotencyKey: string
  readonly txHash: string | null
  readonly logIndex: number | null
  readonly createdAtMs: number
  /** The types of all events about the payment. */
  readonly events: readonly string[]
}

/** A send, as the enclave recorded it in its own database. */
export interface SignedSend {
  readonly referenceId: string
  readonly operationHash: string
  /** The fault that the enclave applied to this send, or null. */
  readonly fault: string | null
}

export interface Evidence {
  readonly payers: readonly Payer[]
  readonly payments: readonly RecordedPayment[]
  readonly transfers: readonly ChainTransfer[]
  readonly sends: readonly SignedSend[]
  /** The ids of the payments that the service acknowledged, by idempotency key. */
  readonly acknowledged: ReadonlyMap<string, string>
}

export interface Violation {
  readonly rule: string
  readonly detail: string
}

const DAY_MS = 24 * 60 * 60 * 1_000
/**
 * The longest time from the recording of a payment until it lands on the chain (D24b). So all payments that landed in a
 * window of 24 hours minus this time were recorded within 24 hours.
 */
const LATENESS_MS = 11 * 60 * 1_000
const FINAL_EVENT: Readonly<Record<string, readonly string[]>> = {
  pending: [],
  confirmed: ['payment.confirmed'],
  failed: ['payment.failed'],
}

export const PAYMENTS_WITH_EVENTS = `select p.*, coalesce(e.types, '{}') as event_types from payments p
  left join (select data -> 'payment' ->> 'id' as id, array_agg(type order by id) as types from events group by 1) e
    on e.id = p.id
  order by p.created_at, p.id`

export function toRecordedPayment(row: Row): RecordedPayment {
  return {
    id: String(row['id']),
    referenceId: referenceId({
      id: String(row['id']),
      workspaceId: String(row['workspace_id']),
      mode: row['mode'],
      idempotencyKey: row['idempotency_key'],
    }),
    agentId: String(row['agent_id']),
    wallet: String(row['wallet_address']).toLowerCase(),
    to: String(row['to_address']).toLowerCase(),
    amountMicro: BigInt(row['amount_micro']),
    status: String(row['status']),
    failureCode: row['failure_code'],
    pendingReason: row['pending_reason'],
    idempotencyKey: String(row['idempotency_key']),
    txHash: row['tx_hash'],
    logIndex: row['log_index'] === null ? null : Number(row['log_index']),
    createdAtMs: (row['created_at'] as Date).getTime(),
    events: row['event_types'],
  }
}

/** Returns every violation of the rules that must be true whatever the provider does. */
export function findViolations(evidence: Evidence): Violation[] {
  return [
    ...checkTransfers(evidence),
    ...checkPayments(evidence),
    ...checkSends(evidence),
    ...checkAcknowledged(evidence),
    ...checkCaps(evidence),
  ]
}

/**
 * Checks that each transfer on the chain belongs to exactly one payment, and that this transfer confirmed the payment.
 */
function checkTransfers({ payments, transfers }: Evidence): Violation[] {
  const byLog = groupBy(payments, ({ txHash, logIndex }) => position(txHash, logIndex))
  return transfers.flatMap((transfer) => {
    const owners = byLog.get(position(transfer.txHash, transfer.logIndex)) ?? []
    const [owner] = owners
    if (owner === undefined || owners.length > 1) {
      return violation('a transfer belongs to exactly one payment', { transfer, owners })
    }
    const isItsOwn =
      owner.wallet === transfer.from && owner.to === transfer.to && owner.amountMicro === transfer.amountMicro
    return owner.status === 'confirmed' && isItsOwn
      ? []
      : violation('a payment whose transfer landed is confirmed by it', { transfer, owner })
  })
}

function checkPayments({ payments, transfers }: Evidence): Violation[] {
  const landed = new Set(transfers.map(({ txHash, logIndex }) => position(txHash, logIndex)))
  return payments.flatMap((payment) => [
    ...(payment.status === 'confirmed' && !landed.has(position(payment.txHash, payment.logIndex))
      ? violation('a confirmed payment has its transfer on the chain', payment)
      : []),
    ...(payment.status === 'pending' && payment.pendingReason === null
      ? violation('a pending payment has a reason', payment)
      : []),
    ...(payment.events.join() === ['payment.created', ...(FINAL_EVENT[payment.status] ?? [])].join()
      ? []
      : violation('a payment has each of its events once', payment)),
  ])
}

/**
 * Checks the transfers against the sends that the enclave recorded when it signed them. This check does not rely on how
 * the service matched transfers and payments.
 */
function checkSends({ payments, transfers, sends }: Evidence): Violation[] {
  const byOperation = groupBy(transfers, ({ operationHash }) => operationHash ?? '')
  const byReference = groupBy(sends, (send) => send.referenceId)
  const known = new Set(payments.map((payment) => payment.referenceId))
  const strangers = sends.filter((send) => !known.has(send.referenceId))
  const wrong = payments.flatMap((payment) => {
    const sent = byReference.get(payment.referenceId) ?? []
    const landed = sent.flatMap(({ operationHash }) => byOperation.get(operationHash) ?? [])
    const [transfer] = landed
    if (landed.length > 1) return violation('no payment lands twice', { payment, sent, landed })
    if (transfer === undefined) {
      return payment.status === 'confirmed' ? violation('only what landed is confirmed', { payment, sent }) : []
    }
    const isRecorded = payment.txHash === transfer.txHash && payment.logIndex === transfer.logIndex
    return payment.status === 'confirmed' && isRecorded
      ? []
      : violation('what the enclave sent for a payment is what the payment is confirmed by', {
          payment,
          sent,
          transfer,
        })
  })
  return [...strangers.flatMap((send) => violation('the enclave signs for recorded payments only', send)), ...wrong]
}

function checkAcknowledged({ payments, acknowledged }: Evidence): Violation[] {
  const byKey = groupBy(payments, ({ idempotencyKey }) => idempotencyKey)
  const doubled = [...byKey.values()].filter((same) => same.length > 1)
  const lost = [...acknowledged].filter(([key, id]) => byKey.get(key)?.[0]?.id !== id)
  return [
    ...doubled.flatMap((same) => violation('an idempotency key has one payment', same)),
    ...lost.flatMap((entry) => violation('an acknowledged payment is recorded', entry)),
  ]
}

/**
 * Checks in two ways that no cap was exceeded in any 24 hours. The first way adds up payments, also those that may
 * still land, by the time at which they were recorded, because a cap counts payments by this time. The second way adds
 * up payments by the time at which they landed, in windows that are shorter by `LATENESS_MS`.
 */
function checkCaps({ payers, payments, transfers }: Evidence): Violation[] {
  const landedAt = new Map(transfers.map((transfer) => [position(transfer.txHash, transfer.logIndex), transfer]))
  return payers.flatMap((payer) => {
    const own = payments.filter(
      ({ agentId, wallet, status }) =>
        agentId === payer.agentId && wallet === payer.wallet.toLowerCase() && status !== 'failed',
    )
    const landed = own.flatMap((payment) => {
      const transfer = landedAt.get(position(payment.txHash, payment.logIndex))
      return transfer === undefined ? [] : [{ atMs: transfer.landedAtMs, amountMicro: transfer.amountMicro }]
    })
    const recorded = own.map(({ createdAtMs, amountMicro }) => ({ atMs: createdAtMs, amountMicro }))
    const [byRecord, byLanding] = [maxInWindow(recorded, DAY_MS), maxInWindow(landed, DAY_MS - LATENESS_MS)]
    return [
      ...(byRecord > payer.capMicro ? violation('no 24 hours over the cap, by recording', { payer, byRecord }) : []),
      ...(byLanding > payer.capMicro ? violation('no 24 hours over the cap, by landing', { payer, byLanding }) : []),
    ]
  })
}

/**
 * Returns the largest share of a cap that was used in any 24 hours, in percent. It shows how close the run came to the
 * caps.
 */
export function findFullestWindow({ payers, payments }: Evidence): number {
  const shares = payers.map(({ agentId, wallet, capMicro }) => {
    const landed = payments
      .filter((one) => one.agentId === agentId && one.wallet === wallet.toLowerCase() && one.status === 'confirmed')
      .map(({ createdAtMs, amountMicro }) => ({ atMs: createdAtMs, amountMicro }))
    return Number((maxInWindow(landed, DAY_MS) * 1_000n) / capMicro) / 10
  })
  return Math.max(0, ...shares)
}

/**
 * Returns the largest sum in any window. Two amounts that are exactly one window apart are never in the same window.
 */
function maxInWindow(
  amounts: readonly { readonly atMs: number; readonly amountMicro: bigint }[],
  windowMs: number,
): bigint {
  const sorted = [...amounts].sort((left, right) => left.atMs - right.atMs)
  let [sum, largest, first] = [0n, 0n, 0]
  for (const { atMs, amountMicro } of sorted) {
    sum += amountMicro
    for (let oldest = sorted[first]; oldest !== undefined && oldest.atMs <= atMs - windowMs; oldest = sorted[first]) {
      sum -= oldest.amountMicro
      first += 1
    }
    if (sum > largest) largest = sum
  }
  return largest
}

function position(txHash: string | null, logIndex: number | null): string {
  return `${txHash}:${logIndex}`
}

function violation(rule: string, facts: unknown): Violation[] {
  const detail = JSON.stringify(facts, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return [{ rule, detail }]
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group === undefined) groups.set(key(item), [item])
    else group.push(item)
  }
  return groups
}
