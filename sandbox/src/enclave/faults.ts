export type Fault = 'reject' | 'unavailable' | 'timeout' | 'lost_response'

/** Failures ordered through the control endpoint; each is used up by one signing request or transfer. */
export interface Faults {
  order(fault: Fault, count: number): void
  orderFailingTransfers(caip2: string, count: number): void
  /** The next ordered fault, in the order in which they were ordered; null when there is none. */
  take(): Fault | null
  takeFailingTransfer(caip2: string): boolean
  /** Ordered faults that no request has met yet. */
  count(): number
}

export function createFaults(): Faults {
  const ordered: { fault: Fault; left: number }[] = []
  const failing = new Map<string, number>()
  return {
    order: (fault, count) => {
      ordered.push({ fault, left: count })
    },
    orderFailingTransfers: (caip2, count) => {
      failing.set(caip2, (failing.get(caip2) ?? 0) + count)
    },
    take: () => {
      const next = ordered[0]
      if (next === undefined) return null
      next.left -= 1
      if (next.left <= 0) ordered.shift()
      return next.fault
    },
    count: () => ordered.reduce((sum, { left }) => sum + left, 0),
    takeFailingTransfer: (caip2) => {
      const left = failing.get(caip2) ?? 0
      if (left > 0) failing.set(caip2, left - 1)
      return left > 0
    },
  }
}
