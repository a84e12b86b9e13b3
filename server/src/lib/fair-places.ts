import { TurnQueue } from './turn-queue.ts'

export interface FairPlacesOptions {
  readonly placesMax: number
  /** How many tickets may wait for a place. */
  readonly waitingMax: number
  /** How long a ticket waits at most, in milliseconds. */
  readonly waitMsMax: number
}

/** The key of tickets without a group. No group has an empty name. */
const NO_GROUP = ''

/** The result of `enter`: a place, a wait for a place, or neither. */
export interface Ticket {
  readonly state: 'placed' | 'waiting' | 'rejected' | 'left'
  /** Gives the place back, or stops waiting. A second call does nothing. */
  leave(): void
}

/**
 * A limited number of places that groups share. A group gets another place only while more places are free than the
 * group already has. So one group alone gets half of the places, and two groups get a third each. A new group always
 * finds a free place, unless very many groups are busy. The places in the queue are shared by the same rule, and groups
 * that wait take turns.
 */
export class FairPlaces {
  readonly #options: FairPlacesOptions
  readonly #held = new Map<string, number>()
  readonly #queue = new TurnQueue<Place>()
  #taken = 0

  constructor(options: FairPlacesOptions) {
    this.#options = options
  }

  get taken(): number {
    return this.#taken
  }

  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Takes a place for the group. If `group` is null, any free place may be taken. If no place may be taken, the ticket
   * waits, and `decided` is called once the wait is over: with true if the ticket then has a place, and with false
   * after `waitMsMax`. If too many tickets wait already, the ticket is rejected at once.
   */
  enter(group: string | null, decided: (hasPlace: boolean) => void): Ticket {
    const place: Place = new Place(group ?? NO_GROUP, { decided, leave: () => this.#leave(place) })
    const { key } = place
    if (this.#queue.sizeOf(key) === 0 && this.#mayTake(key)) {
      this.#take(place)
    } else if (this.#mayWait(key)) {
      place.state = 'waiting'
      place.timer = setTimeout(() => this.#endWait(place), this.#options.waitMsMax)
      this.#queue.push(key, place)
    }
    return place
  }

  #heldBy(key: string): number {
    return this.#held.get(key) ?? 0
  }

  #mayTake(key: string): boolean {
    const held = key === NO_GROUP ? 0 : this.#heldBy(key)
    return held < this.#options.placesMax - this.#taken
  }

  #mayWait(key: string): boolean {
    const waiting = key === NO_GROUP ? 0 : this.#queue.sizeOf(key)
    return waiting < this.#options.waitingMax - this.#queue.size
  }

  #take(place: Place): void {
    place.state = 'placed'
    this.#taken += 1
    this.#held.set(place.key, this.#heldBy(place.key) + 1)
  }

  #endWait(place: Place): void {
    this.#queue.remove(place.key, place)
    place.state = 'rejected'
    place.decided(false)
  }

  #leave(place: Place): void {
    const { state, key } = place
    if (state === 'rejected' || state === 'left') return
    place.state = 'left'
    if (state === 'waiting') {
      clearTimeout(place.timer)
      this.#queue.remove(key, place)
      return
    }
    this.#taken -= 1
    const held = this.#heldBy(key) - 1
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
    this.#startWaiting()
  }

  /** One place that is given back can let several tickets start, because it also makes each group's share larger. */
  #startWaiting(): void {
    for (;;) {
      const next = this.#queue.take((key) => this.#mayTake(key))
      if (next === undefined) return
      clearTimeout(next.timer)
      this.#take(next)
      next.decided(true)
    }
  }
}

class Place implements Ticket {
  state: Ticket['state'] = 'rejected'
  timer: NodeJS.Timeout | undefined
  readonly key: string
  readonly decided: (hasPlace: boolean) => void
  readonly leave: () => void

  constructor(key: string, { decided, leave }: Pick<Place, 'decided' | 'leave'>) {
    this.key = key
    this.decided = decided
    this.leave = leave
  }
}
