import type { Event } from 'bursar'
import { toCliError, type Cli } from './cli.ts'
import { CliError } from './cli-error.ts'
import { callService } from './describe-error.ts'
import { EXIT } from './exit-codes.ts'
import type { Service } from './open-service.ts'
import { formatCommand } from './output/format-command.ts'
import type { NamedTime } from './parse-values.ts'
import { resolveTime } from './resolve-time.ts'
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
  'permission.suspended',
  'permission.resumed',
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

/** The events that a command follows. */
export interface Followed {
  /** Where to begin. Zero milliseconds ago is now. */
  readonly from: NamedTime
  /** Null for all types. */
  readonly types: readonly string[] | null
}

/**
 * Follows the events from a time on, until the command is stopped. While the service does not respond, it tries again,
 * so no event is lost.
 */
export class EventFeed {
  readonly #cli: Cli
  readonly #service: Service
  readonly #followed: Followed
  /** The events of the last poll that the caller has not handled, with their times. */
  readonly #unhandled = new Map<string, number>()
  /** The time of the first event of earlier polls that the caller has not handled. */
  #missedAt = Infinity
  #seen: SeenEvents | null = null

  constructor(cli: Cli, service: Service, followed: Followed) {
    this.#cli = cli
    this.#service = service
    this.#followed = followed
  }

  /**
   * The time from which a later command misses nothing. It gets again the events of the last minute, and those from the
   * first one on that was not handled. Null before the first response of the service.
   */
  get resumesAt(): Date | null {
    if (this.#seen === null) return null
    return new Date(Math.min(this.#seen.from.getTime(), this.#missedAt, ...this.#unhandled.values()))
  }

  /** Remembers that the caller is done with an event. */
  markHandled({ id }: Event): void {
    this.#unhandled.delete(id)
  }

  /**
   * Yields each event once, in the order of their times, except for an event that becomes readable late. Throws if the
   * service has not responded yet, and for errors that do not go away by themselves, such as a sign-in that has ended.
   */
  async *read(): AsyncGenerator<Event, void, undefined> {
    let isDown = false
    while (!stopSignal.aborted) {
      const events = await this.#poll(isDown)
      if (events === null) {
        isDown = true
      } else {
        if (isDown) this.#tell('up', 'The service responds again. No event was lost.')
        isDown = false
        this.#missedAt = Math.min(this.#missedAt, ...this.#unhandled.values())
        this.#unhandled.clear()
        for (const { id, created_at: at } of events) this.#unhandled.set(id, Date.parse(at))
        yield* events
      }
      await pause(POLL_MS)
    }
  }

  /** Returns the new events, or null if the service does not respond now, although it did before. */
  async #poll(isDown: boolean): Promise<Event[] | null> {
    const isFirst = this.#seen === null
    const seen = this.#seen ?? new SeenEvents(await resolveTime(this.#cli, this.#service, this.#followed.from))
    try {
      const events = await callService(this.#cli, () => this.#list(seen.from, { isFirst }))
      this.#seen = seen
      return seen.take(events)
    } catch (error) {
      if (stopSignal.aborted) return null
      if (isFirst || !isTemporary(error)) throw error
      if (!isDown) this.#tell('down', `${error.message} Trying again until the service responds. No event is lost.`)
      return null
    }
  }

  async #list(from: Date, { isFirst }: { isFirst: boolean }): Promise<Event[]> {
    const { bursar, options } = this.#service
    const { types } = this.#followed
    const params = {
      order: 'desc',
      limit: PAGE,
      created_after: from.toISOString(),
      ...(types === null ? {} : { type: types.join(',') }),
    } as const
    const found: Event[] = []
    // Later polls follow each other, so a single one is not retried.
    const callOptions = isFirst ? options : { ...options, retriesMax: 0 }
    for await (const event of bursar.events.list(params, callOptions)) found.push(event)
    return found
  }

  #tell(state: 'down' | 'up', message: string): void {
    this.#cli.output.notice({ service: state, message }, message)
  }
}

/** Returns whether the same request may succeed later, without anything that a person does here. */
function isTemporary(error: unknown): error is CliError {
  return error instanceof CliError && (error.exitCode === EXIT.failure || error.exitCode === EXIT.timeout)
}

/**
 * Runs a command that follows events, and says at its end how a later command continues without a gap: in an error as
 * the next command, and otherwise on standard error.
 */
export async function follow(
  cli: Cli,
  feed: EventFeed,
  { command, work }: { readonly command: readonly string[]; readonly work: () => Promise<void> },
): Promise<void> {
  const next = (): readonly string[] | null => {
    const since = feed.resumesAt
    return since === null ? null : cli.next(...command, '--since', since.toISOString())
  }
  try {
    await work()
  } catch (error) {
    const failure = toCliError(error)
    const hint = [failure.hint, 'Then continue without a gap with the next command.'].filter(Boolean).join(' ')
    throw next() === null ? error : failure.with({ hint, next: next() })
  }
  const resume = next()
  if (resume !== null) {
    cli.output.notice({ stopped: { next: resume } }, `Continue without a gap: ${formatCommand(resume)}`)
  }
}
