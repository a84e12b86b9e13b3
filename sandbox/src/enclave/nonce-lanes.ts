import { ApiError } from './errors.ts'
import { WALLET_QUEUE_MAX } from './limits.ts'

interface Lane {
  tail: Promise<unknown>
  waiting: number
  nextNonce: number | null
}

/** The one place in a lane's turn where nonces are handed out. */
export interface NonceTurn {
  /** The wallet's next nonce; `load` finds it out when this process does not know it yet. */
  next(load: () => Promise<number>): Promise<number>
  /** The nonce is signed and on disk. */
  use(nonce: number): void
  /** The chain refused it: what is known of the nonces is forgotten, and found out anew. */
  forget(): void
}

export type NonceLanes = ReturnType<typeof createNonceLanes>

/** One queue a wallet and chain, so that nonces go out in order, without gaps, however many sends come at once. */
export function createNonceLanes() {
  const lanes = new Map<string, Lane>()

  return {
    async takeTurn<T>(walletId: string, caip2: string, work: (turn: NonceTurn) => Promise<T>): Promise<T> {
      const name = `${walletId} ${caip2}`
      const lane = lanes.get(name) ?? { tail: Promise.resolve(), waiting: 0, nextNonce: null }
      lanes.set(name, lane)
      if (lane.waiting >= WALLET_QUEUE_MAX)
        throw new ApiError(429, 'Too many requests. Please wait to try again.', { code: 'too_many_requests' })
      lane.waiting += 1
      const result = lane.tail.then(() => work(createTurn(lane)))
      lane.tail = result.catch(() => undefined)
      try {
        return await result
      } finally {
        lane.waiting -= 1
      }
    },
  }
}

function createTurn(lane: Lane): NonceTurn {
  return {
    next: async (load) => lane.nextNonce ?? (await load()),
    use: (nonce) => {
      lane.nextNonce = nonce + 1
    },
    forget: () => {
      lane.nextNonce = null
    },
  }
}
