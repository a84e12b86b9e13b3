import { formatQuery, positionAfter, readPages } from './pages.ts'
import { withMembers } from './read-body.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { LedgerEntry, LedgerPage, ListLedgerParams } from './types.ts'

/** Payments, deposits and withdrawals. Use `bursar.ledger`. */
export class Ledger {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Lists payments, deposits and withdrawals, newest first, with amounts in decimal USDC. Reads page after page;
   * `limit` is the size of a page. Stop when you have enough.
   *
   * @example
   * ```ts
   * for await (const entry of bursar.ledger.list({ agent_id: 'shopper' })) {
   *   log(entry.created_at, entry.direction, entry.amount_usdc, entry.status)
   *   if (entry.created_at < '2026-01-01') break
   * }
   * ```
   */
  list(params: ListLedgerParams = {}, options?: CallOptions): AsyncGenerator<LedgerEntry, void, undefined> {
    return readPages(params.starting_after, async (position) => {
      const path = `/v1/ledger${formatQuery({ ...params, starting_after: position })}`
      const read = withMembers<LedgerPage>({ entries: 'array', has_more: 'boolean' })
      const { data } = await send(this.#connection, { method: 'GET', path, read }, options)
      return { items: data.entries, next: positionAfter(data.has_more, data.entries.at(-1)?.id) }
    })
  }
}
