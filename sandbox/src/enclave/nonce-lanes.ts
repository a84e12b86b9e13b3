import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './errors.ts'
import { AUTHORIZATION_POLL_MS, AUTHORIZATION_WAIT_MS_MAX, WALLET_QUEUE_MAX } from './limits.ts'

interface PipelinedConnection {
  tail: Promise<unknown>
  waiting: number
  nextNonce: number | null
  /** The wallet's mined count once its authorization is mined; null when none is on its way. */
  awaitedCount: number | null
}

/** The one place in a lane's turn where nonces are handed out. */
export interface NonceTurn {
  /** The wallet's next nonce; `load` finds it out when this process does not know it yet. */
  next(load: () => Promise<number>): Promise<number>
  /** The nonce is signed and on disk. */
  use(nonce: number): void
  /** The nonce is in an authorization (EIP-7702), which others carry to the chain. */
  authorize(nonce: number): void
  /**
   * Waits until the wallet's authorization is mined, for a bounded time: the local nodes never execute a transaction that
   * they were given before its nonce's turn, when an authorization took that turn.
   */
  awaitAuthorization(countMined: () => Promise<number>): Promise<void>
  /** The chain refused it: what is known of the nonces is forgotten, and found out anew. */
  forget(): void
}

export type NonceLanes = ReturnType<typeof createNonceLanes>

/** One queue a wallet and chain, so that nonces go out in order, without gaps, however many sends come at once. */
export function createNonceLanes() {
  const lanes = new Map<string, PipelinedConnection>()

  return {
    async takeTurn<T>(walletId: string, caip2: string, work: (turn: NonceTurn) => Promise<T>): Promise<T> {
      const name = `${walletId} ${caip2}`
      const lane = lanes.get(name) ?? { tail: Promise.resolve(), waiting: 0, nextNonce: null, awaitedCount: null }
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

function createTurn(lane: PipelinedConnection): NonceTurn {
  return {
    next: async (load) => lane.nextNonce ?? (await load()),
    use: (nonce) => {
      lane.nextNonce = nonce + 1
    },
    forget: () => {
      lane.nextNonce = null
    },
    authorize: (nonce) => {
      lane.nextNonce = nonce + 1
      lane.awaitedCount = nonce + 1
    },
    awaitAuthorization: async (countMined) => {
      const deadline = performance.now() + AUTHORIZATION_WAIT_MS_MAX
      while (lane.awaitedCount !== null && performance.now() < deadline) {
        if ((await countMined()) >= lane.awaitedCount) break
        await sleep(AUTHORIZATION_POLL_MS)
      }
      lane.awaitedCount = null
    },
  }
}
