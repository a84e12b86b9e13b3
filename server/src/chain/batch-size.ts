/** A hundred calls, plus the chain id and the head. Nodes on geth accept 1,000, some providers 20, public nodes 10 or 3. */
export const CALLS_PER_REQUEST_MAX = 102
/** How many requests of the current size must succeed before the size grows. */
export const REQUESTS_BEFORE_GROWTH_MIN = 50
/** Each time a larger size is refused, twice as many must succeed, up to this many. */
const REQUESTS_BEFORE_GROWTH_MAX = 6_400
/** The size grows by a tenth, as ranges of logs do. */
const GROWTH_DIVISOR = 10

/**
 * How many calls one node accepts in one request. It starts at the maximum, and is halved if the node refuses a request
 * because of its size. From a size that worked it grows again, more and more slowly. A limit that was raised is thus
 * discovered in the end, and one that was not is rarely met.
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

  /** Records that the node refused a request with this many calls. */
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
