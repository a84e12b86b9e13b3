/** A hundred calls, and those for the chain id and the head. Nodes on geth take 1,000, some providers 20, public nodes 10 or 3. */
export const CALLS_PER_REQUEST_MAX = 102
/** So many requests as large as they may be have to work before the next ones are larger. */
export const REQUESTS_BEFORE_GROWTH_MIN = 50
/** It takes twice as many each time that the larger ones are refused, up to this many. */
const REQUESTS_BEFORE_GROWTH_MAX = 6_400
/** By how much they grow: a tenth, as ranges of logs do. */
const GROWTH_DIVISOR = 10

/**
 * How many calls one node takes in one request. It begins with the most, and is halved when the node refuses a request
 * for its size. What worked is remembered: from there it grows again, ever more slowly, so that a limit that was lifted
 * is found out in the end, and one that was not is rarely run into.
 */
export class BatchSize {
  #max = CALLS_PER_REQUEST_MAX
  /** The size that it grew from last; 0 when it has not grown. */
  #known = 0
  #answered = 0
  #needed = REQUESTS_BEFORE_GROWTH_MIN

  get max(): number {
    return this.#max
  }

  /** Notes that the node answered a request of so many calls. */
  recordAnswer(calls: number): void {
    if (calls < this.#max || this.#max === CALLS_PER_REQUEST_MAX) return
    this.#answered += 1
    if (this.#answered < this.#needed) return
    this.#answered = 0
    this.#known = this.#max
    this.#max = Math.min(this.#max + Math.ceil(this.#max / GROWTH_DIVISOR), CALLS_PER_REQUEST_MAX)
  }

  /** Notes that the node refused a request of so many calls. */
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
