export type SizeLimits = {
  /** The largest size, with which the estimate starts. */
  readonly max: number
  /** At first, this many requests of the current size must succeed before the size grows. */
  readonly answersBeforeGrowth: number
}

/**
 * How many calls one request has: at most a hundred, plus one for the chain id and one for the head. Nodes that run
 * geth accept 1,000 calls, some providers accept 20, and public nodes 10 or 3.
 */
export const CALLS_PER_REQUEST: SizeLimits = { max: 102, answersBeforeGrowth: 50 }
/**
 * How many blocks one query for logs covers. Many providers allow 1,000 blocks or more, others 500, 100, 10 or a single
 * block. The size grows sooner than that of a request, because a reader that has fallen behind needs many blocks.
 */
export const BLOCKS_PER_QUERY: SizeLimits = { max: 1_000, answersBeforeGrowth: 2 }
/**
 * How many blocks one query for all USDC transfers covers. A block on Base has a few hundred transfers, and many nodes
 * return at most 10,000 logs at once.
 */
export const BLOCKS_PER_FULL_QUERY: SizeLimits = { ...BLOCKS_PER_QUERY, max: 50 }
/** How many blocks are read together, each by its hash. */
export const BLOCKS_BY_HASH: SizeLimits = { ...BLOCKS_PER_QUERY, max: 50 }

/**
 * Each time that a size that has grown is rejected, twice as many requests as before must succeed before the size grows
 * again, but at most this many.
 */
const ANSWERS_BEFORE_GROWTH_MAX = 6_400
/** Each growth makes the size larger by a tenth. */
const GROWTH_DIVISOR = 10

/**
 * Estimates how large requests to a node may be. Nodes do not report their limits, and each one rejects a request that
 * is too large in its own way. The estimate starts at the maximum and is halved after each rejection. After some
 * successful requests it grows again, more and more slowly. So we notice in the end if the node's limit was raised, and
 * otherwise rarely exceed it.
 */
export class AdaptiveSize {
  readonly #limits: SizeLimits
  #max: number
  /** The size before the last growth; 0 if it has not grown. */
  #known = 0
  #answered = 0
  #needed: number
  /** The size before the rejections since the last answer; 0 if there were none. */
  #before = 0
  /** Whether even the smallest size was rejected since the last answer. */
  #isOutage = false

  constructor(limits: SizeLimits) {
    this.#limits = limits
    this.#max = limits.max
    this.#needed = limits.answersBeforeGrowth
  }

  get max(): number {
    return this.#max
  }

  /** Records that a request of this size succeeded. */
  recordAnswer(size: number): void {
    // If even the smallest size was rejected, the node was failing, and the rejections said nothing about its limit.
    if (this.#isOutage) this.#max = this.#before
    const isFull = size >= this.#max && !this.#isOutage
    this.#before = 0
    this.#isOutage = false
    if (!isFull || this.#max === this.#limits.max) return
    this.#answered += 1
    if (this.#answered < this.#needed) return
    this.#answered = 0
    this.#known = this.#max
    this.#max = Math.min(this.#max + Math.ceil(this.#max / GROWTH_DIVISOR), this.#limits.max)
  }

  /** Records that a request of this size was rejected, for a reason that may be its size. */
  recordRefusal(size: number): void {
    if (size > this.#max) return
    this.#answered = 0
    if (this.#before === 0) this.#before = this.#max
    if (size === 1) this.#isOutage = true
    if (size > this.#known && this.#known > 0) {
      this.#max = this.#known
      this.#needed = Math.min(this.#needed * 2, ANSWERS_BEFORE_GROWTH_MAX)
    } else this.#max = Math.max(1, Math.floor(size / 2))
    this.#known = 0
  }
}
