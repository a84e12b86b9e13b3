import { abortFailure } from './attempt.ts'
import { NO_CONTEXT } from './errors.ts'
import { formatQuery, readPages, repeatedPosition } from './pages.ts'
import { withMembers } from './read-body.ts'
import { createResult, type Result } from './result.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { Event, EventPage, Identity, ListEventsParams } from './types.ts'

export interface FollowParams {
  /** The id of the last event that you have handled. Without it, the events from one minute ago on are returned. */
  readonly cursor?: string | undefined
  /** Event types, separated by commas. The default is all types. */
  readonly type?: string
  /** How often to ask for new events, in milliseconds. The default is 5,000. */
  readonly intervalMs?: number
}

const INTERVAL_MS = 5_000
/** Without a cursor, `follow` begins this long before now, to include events that exist but are not readable yet. */
const LOOK_BACK_MS = 60_000

/** The events of the last 30 days. Use `bursar.events`. */
export class Events {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Lists events, newest first, or oldest first with `order: 'asc'`. Reads page after page until there are no more;
   * `limit` is the size of a page.
   *
   * @example
   * ```ts
   * for await (const event of bursar.events.list({ type: 'payment.failed' })) {
   *   if (event.type === 'payment.failed') log(event.data.payment.failure_code)
   * }
   * ```
   */
  list(params: ListEventsParams = {}, options?: CallOptions): AsyncGenerator<Event, void, undefined> {
    return readPages(params.cursor, async (position) => {
      const { events, next_cursor: next } = await this.#readPage({ ...params, cursor: position }, options)
      return { items: events, next }
    })
  }

  /**
   * Yields every event after `cursor`, oldest first, and then each new one about 30 seconds after it happened, without
   * gaps. Without a cursor it begins one minute before now, by the clock of the service. It never ends by itself: leave the loop, or abort `signal`.
   * Store the id of each event that you have handled, and continue from there with `cursor`.
   *
   * Errors: `AbortedError` after an abort, and every other `BursarError`.
   *
   * @example
   * ```ts
   * for await (const event of bursar.events.follow({ cursor: await store.get('cursor') })) {
   *   log(event.type)
   *   await store.set('cursor', event.id)
   *   if (event.type === 'payment.confirmed') break
   * }
   * ```
   */
  async *follow(params: FollowParams = {}, options: CallOptions = {}): AsyncGenerator<Event, never, undefined> {
    const { runtime } = this.#connection
    const { intervalMs = INTERVAL_MS, type } = params
    let { cursor } = params
    const createdAfter = cursor === undefined ? await this.#readStart(options) : undefined
    const read = new Set<string>()
    for (;;) {
      const start = cursor === undefined ? { created_after: createdAfter } : { cursor }
      const page = await this.#readPage({ ...start, type, order: 'asc' }, options)
      yield* page.events
      cursor = page.next_cursor ?? page.events.at(-1)?.id ?? cursor
      if (page.next_cursor !== null) {
        if (read.has(page.next_cursor)) throw repeatedPosition(page.next_cursor)
        read.add(page.next_cursor)
        continue
      }
      read.clear()
      await runtime.sleep(intervalMs, options.signal)
      if (options.signal?.aborted === true) throw abortFailure(options.signal).createError(NO_CONTEXT)
    }
  }

  /**
   * Returns an event as it was when it happened.
   *
   * Errors: `NotFoundError` if there is no such event, or if it is older than 30 days.
   *
   * @example
   * ```ts
   * const event = await bursar.events.get('evt_01JZ3Q8V6T9X2M4N5P7R8S9T0V')
   * log(event.type, event.created_at)
   * ```
   */
  get(id: string, options?: CallOptions): Result<Event> {
    const read = withMembers<{ event: Event }>({ event: 'object' })
    const path = `/v1/events/${encodeURIComponent(id)}`
    return createResult(send(this.#connection, { method: 'GET', path, read }, options), ({ event }) => event)
  }

  /** Returns when `follow` begins without a cursor. The clock of this machine may differ from that of the service. */
  async #readStart(options: CallOptions): Promise<string> {
    const read = withMembers<Identity>({ server_time: 'string' })
    const { data } = await send(this.#connection, { method: 'GET', path: '/v1/me', read }, options)
    return new Date(Date.parse(data.server_time) - LOOK_BACK_MS).toISOString()
  }

  async #readPage(query: object, options: CallOptions | undefined): Promise<EventPage> {
    const read = withMembers<EventPage>({ events: 'array', next_cursor: 'string or null' })
    const path = `/v1/events${formatQuery(query)}`
    return (await send(this.#connection, { method: 'GET', path, read }, options)).data
  }
}
