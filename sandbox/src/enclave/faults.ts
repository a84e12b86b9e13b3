import { ANSWER_FAULTS } from './answer-faults.ts'
import type { AnswerFault } from './answer-faults.ts'

/** Connection faults: no response at all, or none after the send was made. */
const CONNECTION_FAULTS = ['timeout', 'lost_response'] as const

/** What happens to a sponsored send after its response, and what its record says (see `describeStatus`). */
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
 * Every fault that can be ordered for a number of requests. Reads meet `reads_lag`; signing requests meet the others.
 */
export const FAULTS = [...SEND_FAULTS, 'reads_lag'] as const
export type Fault = (typeof FAULTS)[number]

/** A share of the sends meets a random fault from `faults`. The same seed gives the same sequence. */
export interface RandomFaults {
  readonly share: number
  readonly seed: number
  readonly faults: readonly SendFault[]
}

/** Failures ordered through the control endpoint. Each is used up by one signing request, read or transfer. */
export interface Faults {
  order(fault: Fault, count: number): void
  orderRandom(random: RandomFaults): void
  orderFailingTransfers(caip2: string, count: number): void
  /** Cancels all ordered faults that have not been met yet. */
  clear(): void
  /** The next ordered fault that such a request can meet, in the order they were ordered, or null. */
  take(request: { isSponsored: boolean }): SendFault | null
  takeLaggingRead(): boolean
  takeFailingTransfer(caip2: string): boolean
  /** The number of ordered faults not met yet, without the random ones. */
  count(): number
  /** How often each fault has been met since the start, including random ones. */
  countMet(): Readonly<Record<string, number>>
}

export function createFaults(): Faults {
  let ordered: { fault: SendFault; left: number }[] = []
  let laggingReads = 0
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
      if (fault === 'reads_lag') laggingReads += count
      // Two sends make one such bundle.
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
      laggingReads = 0
      draw = null
      failing.clear()
    },
    take: ({ isSponsored }) => {
      const fault = takeNext(isSponsored)
      if (fault !== null) meet(fault)
      return fault
    },
    takeLaggingRead: () => {
      const isLagging = laggingReads > 0
      if (isLagging) laggingReads -= 1
      if (isLagging) meet('reads_lag')
      return isLagging
    },
    count: () => ordered.reduce((sum, { left }) => sum + left, laggingReads),
    countMet: () => Object.fromEntries(met),
    takeFailingTransfer: (caip2) => {
      const left = failing.get(caip2) ?? 0
      if (left > 0) failing.set(caip2, left - 1)
      if (left > 0) meet('transfer_reverts')
      return left > 0
    },
  }
}

export function isStatusFault(fault: SendFault): fault is StatusFault {
  return STATUS_FAULTS.some((known) => known === fault)
}

function createDraw({ share, seed, faults }: RandomFaults): () => SendFault | null {
  const random = createRandom(seed)
  return () => {
    // Both numbers are always drawn, so that the seed alone decides which send meets which fault.
    const [isMet, index] = [random() < share, Math.floor(random() * faults.length)]
    return isMet ? (faults[index] ?? null) : null
  }
}

/** Mulberry32: numbers from 0 up to 1, the same sequence for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
