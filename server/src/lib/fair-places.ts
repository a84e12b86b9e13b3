import { TurnQueue } from './turn-queue.ts'

/*
 * A limited number of places, and a limited queue before them:
 *
 *     enter ──> is a place free, and may ──yes──> placed ── leave ──> the place goes to the next
 *               the group have another?                               one in the queue
 *                         │ no
 *               is there room in the queue? ──yes──> waiting ── its turn ──> placed
 *                         │ no                          └── after `waitMsMax` ──> rejected
 *                      rejected
 *
 * A group is a set of callers, such as a workspace. Groups that wait take turns, and each keeps its own order.
 *
 * The modes, of which each limiter has one of each pair:
 *
 * - How much one group may have. With `halfOfTheRest`, a group gets another place only while more places are free than
 *   the group already has. So one group alone gets half of the places, and two groups get a third each; a new group
 *   always finds a free place, unless very many groups are busy. With `anyFree`, it gets every free place.
 * - Whether some work goes first. Urgent work has places of its own in addition, and a queue of its own. While urgent
 *   work waits, nothing else gets a place.
 */

/**
 * Returns whether a group that has `held` places may have another one while `free` places are free. The places of the
 * queue are shared by the same rule.
 */
export type ShareRule = (held: number, free: number) => boolean

const halfOfTheRest: ShareRule = (held, free) => held < free
export const anyFree: ShareRule = (_held, free) => free > 0

interface QueueLimits {
  /** How many tickets may wait for a place. */
  readonly waitingMax: number
  /** How long a ticket waits at most, in milliseconds. Null if it waits until its turn. */
  readonly waitMsMax: number | null
}

export interface FairPlacesOptions extends QueueLimits {
  readonly placesMax: number
  /** By default, `halfOfTheRest`. */
  readonly share?: ShareRule
  /** The additional places that only urgent work may use, and its queue. */
  readonly urgent?: QueueLimits & { readonly placesMax: number }
}

/** The key of tickets without a group. No group has an empty name. */
const NO_GROUP = ''
const NO_URGENT = { placesMax: 0, waitingMax: 0, waitMsMax: 0 }

/** The result of `enter`: a place, a wait for a place, or neither. */
export interface Ticket {
  readonly state: 'placed' | 'waiting' | 'rejected' | 'left'
  /** Gives the place back, or stops waiting. A second call does nothing. */
  leave(): void
}

/** A limited number of places that groups share. */
export class FairPlaces {
  readonly #options: Required<FairPlacesOptions>
  readonly #held = new Map<string, number>()
  readonly #urgentQueue = new TurnQueue<Place>()
  readonly #queue = new TurnQueue<Place>()
  #taken = 0
  #takenByUrgent = 0

  constructor({ share = halfOfTheRest, urgent = NO_URGENT, ...options }: FairPlacesOptions) {
    this.#options = { ...options, share, urgent }
  }

  get taken(): number {
    return this.#taken
  }

  get waiting(): number {
    return this.#queue.size + this.#urgentQueue.size
  }

  /**
   * Takes a place for the group. If `group` is null, any free place may be taken. If no place may be taken, the ticket
   * waits, and `decided` is called once the wait is over: with true if the ticket then has a place, and with false
   * after `waitMsMax`. If too many tickets wait already, the ticket is rejected at once.
   */
  enter(
    group: string | null,
    decided: (hasPlace: boolean) => void,
    { isUrgent = false }: { isUrgent?: boolean } = {},
  ): Ticket {
    const place: Place = new Place(group ?? NO_GROUP, { isUrgent, decided, leave: () => this.#leave(place) })
    const queue = this.#queueOf(place)
    const { waitMsMax } = isUrgent ? this.#options.urgent : this.#options
    if (queue.sizeOf(place.key) === 0 && this.#mayTake(place)) {
      this.#take(place)
    } else if (this.#mayWait(place)) {
      place.state = 'waiting'
      if (waitMsMax !== null) place.timer = setTimeout(() => this.#endWait(place), waitMsMax)
      queue.push(place.key, place)
    }
    return place
  }

  /**
   * Takes a place as `enter` does, and waits for it. Returns null if the ticket was rejected. Throws the signal's reason
   * if the signal aborts first.
   */
  async take(
    group: string | null,
    { signal, ...options }: { isUrgent?: boolean; signal?: AbortSignal } = {},
  ): Promise<Ticket | null> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const ticket = this.enter(group, resolve, options)
    if (ticket.state !== 'waiting') return ticket.state === 'placed' ? ticket : null
    const abort = (): void => {
      if (ticket.state !== 'waiting') return
      ticket.leave()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort)
    try {
      return (await promise) ? ticket : null
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #queueOf({ isUrgent }: Pick<Place, 'isUrgent'>): TurnQueue<Place> {
    return isUrgent ? this.#urgentQueue : this.#queue
  }

  #mayTake({ key, isUrgent }: Pick<Place, 'key' | 'isUrgent'>): boolean {
    const { placesMax, share, urgent } = this.#options
    const free = placesMax + urgent.placesMax - this.#taken
    if (isUrgent) return free > 0
    if (free <= 0 || this.#urgentQueue.size > 0) return false
    const held = key === NO_GROUP ? 0 : (this.#held.get(key) ?? 0)
    return share(held, placesMax - (this.#taken - this.#takenByUrgent))
  }

  #mayWait({ key, isUrgent }: Place): boolean {
    if (isUrgent) return this.#urgentQueue.size < this.#options.urgent.waitingMax
    const waiting = key === NO_GROUP ? 0 : this.#queue.sizeOf(key)
    return this.#options.share(waiting, this.#options.waitingMax - this.#queue.size)
  }

  #take(place: Place): void {
    place.state = 'placed'
    this.#taken += 1
    if (place.isUrgent) this.#takenByUrgent += 1
    else this.#held.set(place.key, (this.#held.get(place.key) ?? 0) + 1)
  }

  #endWait(place: Place): void {
    this.#queueOf(place).remove(place.key, place)
    place.state = 'rejected'
    place.decided(false)
    this.#startWaiting()
  }

  #leave(place: Place): void {
    const { state, key } = place
    if (state === 'rejected' || state === 'left') return
    place.state = 'left'
    if (state === 'waiting') {
      clearTimeout(place.timer)
      this.#queueOf(place).remove(key, place)
    } else {
      this.#taken -= 1
      if (place.isUrgent) this.#takenByUrgent -= 1
      else this.#giveBack(key)
    }
    this.#startWaiting()
  }

  #giveBack(key: string): void {
    const held = (this.#held.get(key) ?? 0) - 1
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
  }

  /**
   * Lets all tickets start that may. One place that is given back can let several start, because it also makes each
   * group's share larger, and so can an urgent ticket that no longer waits.
   */
  #startWaiting(): void {
    for (const isUrgent of [true, false]) {
      const queue = this.#queueOf({ isUrgent })
      for (;;) {
        const next = queue.take((key) => this.#mayTake({ key, isUrgent }))
        if (next === undefined) break
        clearTimeout(next.timer)
        this.#take(next)
        next.decided(true)
      }
    }
  }
}

class Place implements Ticket {
  state: Ticket['state'] = 'rejected'
  timer: NodeJS.Timeout | undefined
  readonly key: string
  readonly isUrgent: boolean
  readonly decided: (hasPlace: boolean) => void
  readonly leave: () => void

  constructor(key: string, { isUrgent, decided, leave }: Pick<Place, 'isUrgent' | 'decided' | 'leave'>) {
    this.key = key
    this.isUrgent = isUrgent
    this.decided = decided
    this.leave = leave
  }
}
