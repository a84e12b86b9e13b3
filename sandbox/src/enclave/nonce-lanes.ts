import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './errors.ts'
import { AUTHORIZATION_POLL_MS, AUTHORIZATION_WAIT_MS_MAX, WALLET_QUEUE_MAX } from './limits.ts'

interface Lane {
  tail: Promise<unknown>
  waiting: number
  nextNonce: number | null
  /**
   * The number of mined transactions that the wallet will have once its authorization is mined. Null if no
   * authorization is waiting to be mined.
   */
  awaitedCount: number | null
}

/** A send's turn in the queue of its wallet. Nonces are assigned only during a turn. */
export interface NonceTurn {
  /** Returns the wallet's next nonce. If this process does not know the nonce yet, `load` reads it. */
  next(load: () => Promise<number>): Promise<number>
  /** Reports that a transaction with this nonce was signed and is stored on disk. */
  use(nonce: number): void
  /** Reports that an authorization (EIP-7702) uses this nonce. The bundler sends the authorization to the chain. */
  authorize(nonce: number): void
  /**
   * Waits, for a limited time, until the wallet's authorization is mined. The authorization has the nonce right before
   * the next transaction's nonce. If a local node receives the transaction before the authorization is mined, the node
   * never executes the transaction.
   */
  awaitAuthorization(countMined: () => Promise<number>): Promise<void>
  /** Forgets the wallet's next nonce, because the chain rejected the transaction. `next` then reads the nonce again. */
  forget(): void
}

export type NonceLanes = ReturnType<typeof createNonceLanes>

/**
 * Creates one queue for each wallet and chain. So nonces are used in order and without gaps, even if many sends arrive
 * at once.
 */
export function createNonceLanes() {
  const lanes = new Map<string, Lane>()

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

function createTurn(lane: Lane): NonceTurn {
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
