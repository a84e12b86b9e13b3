import { ANSWER_FAULTS } from './answer-faults.ts'
import type { AnswerFault } from './answer-faults.ts'

/**
 * Faults of the connection: the client gets no response. With `timeout`, nothing was sent to the chain. With
 * `lost_response`, the transfer was sent.
 */
const CONNECTION_FAULTS = ['timeout', 'lost_response'] as const

/**
 * Faults after the response: they change what happens to a sponsored send and what the API reports (see
 * `describeStatus`).
 */
const STATUS_FAULTS = [
  'never_gets_hash',
  'reverted_without_hash',
  'failed_lands_later',
  'failed_never_lands',
  'provider_error',
  'provider_error_lands',
  'replaced',
  'replaced_old_hash',
  'two_in_one_bundle',
] as const

export type StatusFault = (typeof STATUS_FAULTS)[number]
export type SendFault = AnswerFault | (typeof CONNECTION_FAULTS)[number] | StatusFault

export const SEND_FAULTS: readonly SendFault[] = [...ANSWER_FAULTS, ...CONNECTION_FAULTS, ...STATUS_FAULTS]

/**
 * Faults of reads. With `reads_lag`, a read returns an earlier state. With `keys_as_pem`, a key quorum is read with its
 * public keys as PEM. The provider accepts this form, and does not document which form it returns.
 */
export const READ_FAULTS = ['reads_lag', 'keys_as_pem'] as const
export type ReadFault = (typeof READ_FAULTS)[number]

/** Every fault that can be switched on for the next N requests. */
export const FAULTS = [...SEND_FAULTS, ...READ_FAULTS] as const
export type Fault = (typeof FAULTS)[number]

/**
 * Makes a share of the sends fail with a random fault from `faults`. The same seed gives the same sequence of faults.
 */
export interface RandomFaults {
  readonly share: number
  readonly seed: number
  readonly faults: readonly SendFault[]
}

/**
 * The faults that were requested through the control endpoint. One signing request, read or transfer uses up one
 * requested fault.
 */
export interface Faults {
  order(fault: Fault, count: number): void
  orderRandom(random: RandomFaults): void
  orderFailingTransfers(caip2: string, count: number): void
  /** Cancels all requested faults that are not used up yet, and random faults. */
  clear(): void
  /**
   * Returns the oldest requested fault that can happen to a send of this kind (sponsored or not), and uses it up. If
   * there is none, may return a random fault for a sponsored send. Otherwise returns null.
   */
  take(request: { isSponsored: boolean }): SendFault | null
  /** Returns whether this fault was requested for a read, and uses it up. */
  takeReadFault(fault: ReadFault): boolean
  takeFailingTransfer(caip2: string): boolean
  /** Returns the number of requested faults that are not used up yet, without random faults and failing transfers. */
  count(): number
  /** Returns how often each fault has occurred since the start, including random ones. */
  countMet(): Readonly<Record<string, number>>
}

export function createFaults(): Faults {
  let ordered: { fault: SendFault; left: number }[] = []
  const reads = new Map<ReadFault, number>()
  let draw: (() => SendFault | null) | null = null
  const failing = new Map<string, number>()
  const met = new Map<string, number>()
  const meet = (fault: string): void => void met.set(fault, (met.get(fault) ?? 0) + 1)
  const takeNext = (isSponsored: boolean): SendFault | null => {
    const next = ordered.find(({ fault }) => isSponsored || !isStatusFault(fault))
    if (next === undefined) return isSponsored ? (draw?.() ?? null) : null
    next.left -= 1
    if (next.left <= 0) ordered = ordered.filter((order) => order !== next)
    return next.fault
  }
  return {
    order: (fault, count) => {
      if (isReadFault(fault)) reads.set(fault, (reads.get(fault) ?? 0) + count)
      // With the fault `two_in_one_bundle`, two sends share a bundle. So each requested fault of this kind is for two
      // sends.
      else ordered.push({ fault, left: fault === 'two_in_one_bundle' ? 2 * count : count })
    },
    orderRandom: (random) => {
      draw = createDraw(random)
    },
    orderFailingTransfers: (caip2, count) => {
      failing.set(caip2, (failing.get(caip2) ?? 0) + count)
    },
    clear: () => {
      ordered = []
      reads.clear()
      draw = null
      failing.clear()
    },
    take: ({ isSponsored }) => {
      const fault = takeNext(isSponsored)
      if (fault !== null) meet(fault)
      return fault
    },
    takeReadFault: (fault) => {
      const left = reads.get(fault) ?? 0
      if (left > 0) reads.set(fault, left - 1)
      if (left > 0) meet(fault)
      return left > 0
    },
    count: () => [...ordered.map(({ left }) => left), ...reads.values()].reduce((sum, left) => sum + left, 0),
    countMet: () => Object.fromEntries(met),
    takeFailingTransfer: (caip2) => {
      const left = failing.get(caip2) ?? 0
      if (left > 0) failing.set(caip2, left - 1)
      if (left > 0) meet('transfer_reverts')
      return left > 0
    },
  }
}

function isReadFault(fault: Fault): fault is ReadFault {
  return READ_FAULTS.some((known) => known === fault)
}

export function isStatusFault(fault: SendFault): fault is StatusFault {
  return STATUS_FAULTS.some((known) => known === fault)
}

function createDraw({ share, seed, faults }: RandomFaults): () => SendFault | null {
  const random = createRandom(seed)
  return () => {
    // Both numbers are drawn for every send. So the seed alone decides which send gets which fault.
    const [isMet, index] = [random() < share, Math.floor(random() * faults.length)]
    return isMet ? (faults[index] ?? null) : null
  }
}

/** Creates a generator of numbers from 0 up to 1 (Mulberry32). The same seed gives the same sequence. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
