/**
 * One request has at most this many calls: a hundred, plus one for the chain id and one for the head. Nodes that run
 * geth accept 1,000 calls, some providers accept 20, and public nodes 10 or 3.
 */
export const CALLS_PER_REQUEST_MAX = 102
/** At first, this many requests must succeed with the current batch size before the batch size grows. */
export const REQUESTS_BEFORE_GROWTH_MIN = 50
/**
 * Each time that the node rejects a batch size that has grown, twice as many requests as before must succeed before the
 * batch size grows again, but at most this many.
 */
const REQUESTS_BEFORE_GROWTH_MAX = 6_400
/** Each growth makes the batch size larger by a tenth. */
const GROWTH_DIVISOR = 10

/**
 * Estimates how many calls one node accepts in one request. The estimate starts at the maximum and is halved if the
 * node rejects a request because of its size. After many successful requests it grows again, more and more slowly. So
 * we notice in the end if the node's limit was raised, and otherwise rarely exceed it.
 */
export class BatchSize {
  #max = CALLS_PER_REQUEST_MAX
  /** The size before the last growth; 0 if it has not grown. */
  #known = 0
  #answered = 0
  #needed = REQUESTS_BEFORE_GROWTH_MIN

  get max(): number {
    return this.#max
  }

  /** Records that the node accepted a request with this many calls. */
  recordAnswer(calls: number): void {
    if (calls < this.#max || this.#max === CALLS_PER_REQUEST_MAX) return
    this.#answered += 1
    if (this.#answered < this.#needed) return
    this.#answered = 0
    this.#known = this.#max
    this.#max = Math.min(this.#max + Math.ceil(this.#max / GROWTH_DIVISOR), CALLS_PER_REQUEST_MAX)
  }

  /** Records that the node rejected a request with this many calls because of its size. */
  recordRefusal(calls: number): void {
    if (calls > this.#max) return
    this.#answered = 0
    if (calls > this.#known && this.#known > 0) {
      this.#max = this.#known
      this.#needed = Math.min(this.#needed * 2, REQUESTS_BEFORE_GROWTH_MAX)
    } else this.#max = Math.max(1, Math.floor(calls / 2))
    this.#known = 0
  }
}
