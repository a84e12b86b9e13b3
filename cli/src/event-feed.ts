import type { Event } from 'bursar'
import type { Cli } from './cli.ts'
import { callService } from './describe-error.ts'
import type { Service } from './open-service.ts'
import { pause, stopSignal } from './signals.ts'

/** The time between two polls of the service. Polling uses a third of the rate limit of one credential. */
const POLL_MS = 3_000
/**
 * An event becomes readable when its transaction has committed, so newer events can become readable before it. Each
 * poll therefore reads the last `OVERLAP_MS` again. The service itself waits 30 seconds before it considers the order
 * of events final.
 */
export const OVERLAP_MS = 60_000
const PAGE = 100

/** The types of events. The service may have more in a later version, so any name is passed on. */
export const EVENT_TYPES = [
  'payment.created',
  'payment.confirmed',
  'payment.failed',
  'inbound.received',
  'permission.granted',
  'permission.revoked',
  'webhook.test',
]

/** Remembers which events were seen, as long as a poll can read them again. */
export class SeenEvents {
  readonly #times = new Map<string, number>()
  #from: Date

  constructor(from: Date) {
    this.#from = from
  }

  /** The time from which the next poll must read. */
  get from(): Date {
    return this.#from
  }

  /** Takes the events of one poll, in any order. Returns those that are new, oldest first. */
  take(events: readonly Event[]): Event[] {
    const fresh = events
      .filter(({ id }) => !this.#times.has(id))
      .toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))
    for (const { id, created_at: at } of fresh) this.#times.set(id, Date.parse(at))
    const newest = Math.max(...this.#times.values())
    if (newest - OVERLAP_MS > this.#from.getTime()) this.#from = new Date(newest - OVERLAP_MS)
    for (const [id, at] of this.#times) if (at < this.#from.getTime()) this.#times.delete(id)
    return fresh
  }
}

/**
 * Yields the events from a time on (null: now), and each new one shortly after it happened, until the command is
 * stopped. Each event comes once. Events come in the order of their times, except for an event that becomes readable
 * late.
 */
export async function* followEvents(
  cli: Cli,
  service: Service,
  { from, types }: { readonly from: Date | null; readonly types: readonly string[] | null },
): AsyncGenerator<Event, void, undefined> {
  const { bursar, options } = service
  const seen = new SeenEvents(from ?? (await readServerTime(cli, service)))
  while (!stopSignal.aborted) {
    const events = await callService(cli, async () => {
      const found: Event[] = []
      const params = {
        order: 'desc',
        limit: PAGE,
        created_after: seen.from.toISOString(),
        ...(types === null ? {} : { type: types.join(',') }),
      } as const
      for await (const event of bursar.events.list(params, options)) found.push(event)
      return found
    })
    yield* seen.take(events)
    await pause(POLL_MS)
  }
}

/** "Now" by the clock of the service. If this machine's clock were used and were ahead, events would be missed. */
async function readServerTime(cli: Cli, { bursar, options }: Service): Promise<Date> {
  const { headers } = await callService(cli, () => bursar.me(options).withResponse())
  const date = new Date(headers.get('date') ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? new Date() : date
}
