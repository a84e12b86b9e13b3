import { Holdings, NO_GROUP } from './holdings.ts'
import { TurnQueue } from './turn-queue.ts'

/*
 * A limited number of places, and a limited queue before them:
 *
 *     enter ──> may the group have ──yes──> placed ── leave ──> the place goes to the next one in the queue
 *               another place?                └── a newcomer needs it, and the work may end ──> ended
 *                         │ no
 *               may the group wait? ──yes──> waiting ── its turn ──> placed
 *                         │ no                 └── after `waitMsMax`, or a newcomer needs its room ──> rejected
 *                      rejected
 *
 * A group is a set of callers: a workspace, or the network of a stranger. A group belongs to a holder, who may have
 * many groups: a workspace belongs to the person who created it, and a network to itself. Shares are counted by holder
 * (D91). Holders that wait take turns. So do the groups of one holder, and each group keeps its own order.
 *
 * A newcomer is a holder who holds less than an own share. If the places are full, a newcomer gets a place from the
 * holder who holds the most, as long as that holder holds at least `LEAD_MIN` more. The newest work ends that may end:
 * nothing is lost if its caller repeats it. In the same way, a group gets a place from another group of its holder. If
 * everybody holds as little as a newcomer would then hold, work that has had its turn (`turnMs`) ends for the newcomer.
 *
 * The modes, of which each limiter has one of each pair:
 *
 * - How much one holder may have. With `fairShare`, an own share is an eighth of the places. A holder gets more only
 *   while more than half of the places are free. So one holder alone gets half of the places. With `anyFree`, a holder
 *   gets every free place. That is right where each piece of work is short, so that the turns of the queue suffice.
 * - Whether some work goes first. Urgent work has places of its own in addition, and a queue of its own. While urgent
 *   work waits, nothing else gets a place.
 */

/**
 * Returns whether a holder who has `held` of `size` places may have another one while `free` places are free. The places
 * of the queue are shared by the same rule.
 */
export type ShareRule = (held: number, free: number, size: number) => boolean

/** An own share is this part of the places. */
const OWN_SHARE_PART = 8
/** A holder gets more than an own share only while more than this part of the places is free. */
const RESERVE_PART = 2
function ownShareOf(size: number): number {
  return Math.max(1, Math.floor(size / OWN_SHARE_PART))
}

/** The last places of an own share are taken only while more places are free than the holder holds. */
const fairShare: ShareRule = (held, free, size) => free > size / RESERVE_PART || held < Math.min(ownShareOf(size), free)
export const anyFree: ShareRule = (_held, free) => free > 0

interface QueueLimits {
  /** How many tickets may wait for a place. */
  readonly waitingMax: number
  /** How long a ticket waits at most, in milliseconds. Null if it waits until its turn. */
  readonly waitMsMax: number | null
}

export interface FairPlacesOptions extends QueueLimits {
  readonly placesMax: number
  /** By default, `fairShare`. */
  readonly share?: ShareRule
  /** The additional places that only urgent work may use, and its queue. */
  readonly urgent?: QueueLimits & { readonly placesMax: number }
  /**
   * How long work that may end keeps its place at least, if its holder has no more places than the others, in
   * milliseconds. By default, until it leaves.
   */
  readonly turnMs?: number
  /** `newcomers`: only holders who hold less than an own share wait. By default, everybody does. */
  readonly whoWaits?: 'everybody' | 'newcomers'
  /** Returns the holder of a group. By default, each group is its own holder. */
  readonly holderOf?: (group: string) => string
}

const NO_URGENT = { placesMax: 0, waitingMax: 0, waitMsMax: 0 }

/** The result of `enter`: a place, a wait for a place, or neither. `ended`: the place went to a newcomer. */
export interface Ticket {
  readonly state: 'placed' | 'waiting' | 'rejected' | 'left' | 'ended'
  /** Gives the place back, or stops waiting. A second call does nothing. */
  leave(): void
  /** From now on, the place goes to nobody else. Returns false if it already did. */
  keep(): boolean
}

/** What work knows about its place. */
export interface HeldPlace {
  /** Aborted when the place has gone to a newcomer. */
  readonly ended: AbortSignal
  /** To be called before the work does what must not be cut off. Throws the reason of `ended` if it is aborted. */
  readonly keep: () => void
}

interface EnterOptions {
  readonly isUrgent?: boolean | undefined
  /** Called if the place goes to a newcomer. Without it, the work never ends before it leaves. */
  readonly end?: (() => void) | undefined
}

/** A limited number of places that groups share. */
export class FairPlaces {
  readonly #options: Required<Omit<FairPlacesOptions, 'turnMs'>> & Pick<FairPlacesOptions, 'turnMs'>
  readonly #placed = new Holdings<Place>()
  readonly #waiting = new Holdings<Place>()
  readonly #urgentQueue = new TurnQueue<Place>()
  readonly #queue = new TurnQueue<Place>()
  #taken = 0
  #rejected = 0
  #takenByUrgent = 0

  constructor({
    share = fairShare,
    urgent = NO_URGENT,
    whoWaits = 'everybody',
    holderOf = (group) => group,
    ...options
  }: FairPlacesOptions) {
    this.#options = { ...options, share, urgent, whoWaits, holderOf }
  }

  /** How many places there are, with those for urgent work. */
  get placesMax(): number {
    return this.#options.placesMax + this.#options.urgent.placesMax
  }

  get taken(): number {
    return this.#taken
  }

  /** How many tickets were rejected since the process started. */
  get rejected(): number {
    return this.#rejected
  }

  get waiting(): number {
    return this.#queue.size + this.#urgentQueue.size
  }

  /**
   * Takes a place for the group. If `group` is null, any free place may be taken. If no place may be taken, the ticket
   * waits, and `decided` is called once the wait is over: with true if the ticket then has a place, and with false
   * otherwise. If too many tickets wait already, the ticket is rejected at once.
   */
  enter(
    group: string | null,
    decided: (hasPlace: boolean) => void,
    { isUrgent = false, end }: EnterOptions = {},
  ): Ticket {
    const holder = group === null ? NO_GROUP : this.#options.holderOf(group)
    const place: Place = new Place({ group: group ?? NO_GROUP, holder, isUrgent, decided, end })
    place.leave = () => this.#leave(place)
    if (end !== undefined) place.keep = () => this.#keep(place)
    const isFirst = this.#queueOf(place).sizeOf(holder) === 0
    if (isFirst && (this.#mayTake(place) || this.#makeRoom(place))) this.#take(place)
    else if (this.#isOneWhoWaits(place) && (this.#mayWait(place) || this.#makeRoomInQueue(place))) this.#wait(place)
    else this.#rejected += 1
    return place
  }

  /**
   * Takes a place as `enter` does, and waits for it. Returns null if the ticket was rejected. Throws the signal's reason
   * if the signal aborts first.
   */
  async take(
    group: string | null,
    { signal, ...options }: EnterOptions & { signal?: AbortSignal | undefined } = {},
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

  /**
   * Runs work in a place. With `mayEnd`, the place may go to a newcomer until the work calls `keep`. Throws what `full`
   * returns if there is no place, or if it has gone to a newcomer and the work failed because of that.
   */
  async run<Result>(
    group: string | null,
    { full, mayEnd = false }: { full: () => Error; mayEnd?: boolean },
    work: (hold: HeldPlace) => Promise<Result>,
  ): Promise<Result> {
    const ending = new AbortController()
    const { signal: ended } = ending
    const ticket = await this.take(group, mayEnd ? { end: () => ending.abort(full()) } : {})
    if (ticket === null) throw full()
    const keep = (): void => {
      if (!ticket.keep()) ended.throwIfAborted()
    }
    try {
      return await work({ ended, keep })
    } catch (error) {
      throw ended.aborted ? ended.reason : error
    } finally {
      ticket.leave()
    }
  }

  #queueOf({ isUrgent }: Pick<Place, 'isUrgent'>): TurnQueue<Place> {
    return isUrgent ? this.#urgentQueue : this.#queue
  }

  #mayTake({ holder, isUrgent }: Pick<Place, 'holder' | 'isUrgent'>): boolean {
    const { placesMax, share } = this.#options
    const free = this.placesMax - this.#taken
    if (isUrgent) return free > 0
    if (free <= 0 || this.#urgentQueue.size > 0) return false
    return share(this.#placed.countOf(holder), placesMax - (this.#taken - this.#takenByUrgent), placesMax)
  }

  #isOneWhoWaits({ holder }: Place): boolean {
    const { placesMax, whoWaits } = this.#options
    return whoWaits === 'everybody' || this.#placed.countOf(holder) < ownShareOf(placesMax)
  }

  #mayWait({ holder, isUrgent }: Place): boolean {
    if (isUrgent) return this.#urgentQueue.size < this.#options.urgent.waitingMax
    const { share, waitingMax } = this.#options
    return share(this.#waiting.countOf(holder), waitingMax - this.#queue.size, waitingMax)
  }

  /** Ends work that may end, if the place is a newcomer's. Returns whether the newcomer may then take a place. */
  #makeRoom(place: Place): boolean {
    if (place.isUrgent || this.#urgentQueue.size > 0) return false
    const giver = this.#placed.giverTo(place, ownShareOf(this.#options.placesMax))
    if (giver === undefined) return false
    this.#free(giver)
    giver.state = 'ended'
    giver.end?.()
    return this.#taken < this.placesMax
  }

  #makeRoomInQueue(place: Place): boolean {
    const giver = place.isUrgent ? undefined : this.#waiting.giverTo(place, ownShareOf(this.#options.waitingMax))
    if (giver === undefined) return false
    this.#stopWaiting(giver)
    giver.state = 'rejected'
    this.#rejected += 1
    giver.decided(false)
    return true
  }

  #take(place: Place): void {
    place.state = 'placed'
    this.#taken += 1
    if (place.isUrgent) this.#takenByUrgent += 1
    else this.#placed.add(place, place.end !== undefined)
    const { turnMs } = this.#options
    if (turnMs !== undefined && place.end !== undefined) {
      place.timer = setTimeout(() => (place.hasHadTurn = true), turnMs).unref()
    }
  }

  #wait(place: Place): void {
    place.state = 'waiting'
    const { waitMsMax } = place.isUrgent ? this.#options.urgent : this.#options
    if (waitMsMax !== null) place.timer = setTimeout(() => this.#endWait(place), waitMsMax)
    this.#queueOf(place).push(place.holder, place, place.group)
    if (!place.isUrgent) this.#waiting.add(place, true)
  }

  #endWait(place: Place): void {
    this.#stopWaiting(place)
    place.state = 'rejected'
    this.#rejected += 1
    place.decided(false)
    this.#startWaiting()
  }

  #stopWaiting(place: Place): void {
    clearTimeout(place.timer)
    this.#queueOf(place).remove(place.holder, place)
    if (!place.isUrgent) this.#waiting.delete(place)
  }

  #free(place: Place): void {
    clearTimeout(place.timer)
    this.#taken -= 1
    if (place.isUrgent) this.#takenByUrgent -= 1
    else this.#placed.delete(place)
  }

  #keep(place: Place): boolean {
    this.#placed.keep(place)
    return place.state === 'placed'
  }

  #leave(place: Place): void {
    const { state } = place
    if (state !== 'waiting' && state !== 'placed') return
    place.state = 'left'
    if (state === 'waiting') this.#stopWaiting(place)
    else this.#free(place)
    this.#startWaiting()
  }

  /**
   * Lets all tickets start that may. One place that is given back can let several start, because it also makes each
   * holder's share larger, and so can an urgent ticket that no longer waits.
   */
  #startWaiting(): void {
    for (const isUrgent of [true, false]) {
      const queue = this.#queueOf({ isUrgent })
      for (;;) {
        const next = queue.take((holder) => this.#mayTake({ holder, isUrgent }))
        if (next === undefined) break
        clearTimeout(next.timer)
        if (!isUrgent) this.#waiting.delete(next)
        this.#take(next)
        next.decided(true)
      }
    }
  }
}

class Place implements Ticket {
  state: Ticket['state'] = 'rejected'
  /** Ends the wait, or the turn. */
  timer: NodeJS.Timeout | undefined
  hasHadTurn = false
  leave: () => void = () => undefined
  keep: () => boolean = () => true
  readonly group: string
  readonly holder: string
  readonly isUrgent: boolean
  readonly decided: (hasPlace: boolean) => void
  readonly end: (() => void) | undefined

  constructor({
    group,
    holder,
    isUrgent,
    decided,
    end,
  }: Pick<Place, 'group' | 'holder' | 'isUrgent' | 'decided' | 'end'>) {
    this.group = group
    this.holder = holder
    this.isUrgent = isUrgent
    this.decided = decided
    this.end = end
  }
}
