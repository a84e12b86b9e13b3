import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './errors.ts'
import { AUTHORIZATION_POLL_MS, AUTHORIZATION_WAIT_MS_MAX, WALLET_QUEUE_MAX } from './limits.ts'

interface PipelinedConnection {
  tail: Promise<unknown>
  waiting: number
  nextNonce: number | null
  /** The wallet's mined count once its authorization is mined, or null if none is in flight. */
  awaitedCount: number | null
}

/** The only place in a queue's turn where nonces are assigned. */
export interface NonceTurn {
  /** Returns the wallet's next nonce. `load` reads it if this process does not know it yet. */
  next(load: () => Promise<number>): Promise<number>
  /** The nonce is signed and stored on disk. */
  use(nonce: number): void
  /** The nonce is used by an authorization (EIP-7702), which the bundler sends to the chain. */
  authorize(nonce: number): void
  /**
   * Waits, for a limited time, until the wallet's authorization is mined. A local node never executes a transaction
   * that it received before its turn, if an authorization took that turn's nonce.
   */
  awaitAuthorization(countMined: () => Promise<number>): Promise<void>
  /** The chain rejected it: the known nonces are discarded and read again. */
  forget(): void
}

export type NonceLanes = ReturnType<typeof createNonceLanes>

/**
 * One queue per wallet and chain, so that nonces are used in order and without gaps, however many sends arrive at once.
 */
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
