import { DatabaseError } from 'pg'
import type pg from 'pg'
import { CommitUnknown, translateError } from './errors.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import { readResults, type Query, type Results } from './query.ts'

/**
 * We lock a row before we count or sum. Only at this isolation level does a read after the lock include everything that
 * other transactions committed before the lock was granted.
 */
const BEGIN = 'begin isolation level read committed'

/**
 * A transaction on one connection. `begin` is sent with the first batch and `commit` with the last one, so a
 * transaction that reads once and writes once costs two round trips.
 */
export class Transaction {
  readonly #client: pg.Client
  #state: 'new' | 'open' | 'done' = 'new'
  #statement = ''

  constructor(client: pg.Client) {
    this.#client = client
  }

  /** Runs the queries in one round trip. */
  async batch<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begins = this.#state === 'new'
    this.#state = 'open'
    if (begins) this.#statement = queries[0]?.name ?? ''
    const sent = coalesceWrites(this.#client, () => [
      ...(begins ? [this.#send(BEGIN)] : []),
      ...queries.map((query) => this.#sendQuery(query)),
    ])
    const results = (await settled(sent)).slice(begins ? 1 : 0)
    return readResults(queries, results)
  }

  async run<Result>(query: Query<Result>): Promise<Result> {
    const [result] = await this.batch([query] as const)
    return result
  }

  /** Runs the queries and commits, in one round trip. Nothing may be run afterwards. */
  async commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begins = this.#state === 'new'
    this.#state = 'done'
    if (begins) this.#statement = queries[0]?.name ?? ''
    const { sent, commit } = coalesceWrites(this.#client, () => ({
      sent: [...(begins ? [this.#send(BEGIN)] : []), ...queries.map((query) => this.#sendQuery(query))],
      commit: this.#send('commit'),
    }))
    // We wait for all results together. If we waited for the commit first, a statement could fail before the commit's
    // response arrives, and its rejection would be unhandled.
    const [[outcome], statements] = await Promise.all([Promise.allSettled([commit]), Promise.allSettled(sent)])
    const failed = statements.find((statement) => statement.status === 'rejected')
    // Only an error response of the server proves that a statement failed, and therefore that nothing was committed.
    if (failed?.reason instanceof DatabaseError) throw translateError(failed.reason)
    if (outcome.status === 'rejected' || failed !== undefined) throw toCommitFailure(outcome)
    const results = (await settled(sent)).slice(begins ? 1 : 0)
    // If a transaction has failed, PostgreSQL responds to its commit with ROLLBACK, and with no error.
    const { command } = await commit
    if (command !== 'COMMIT') throw new Error(`PostgreSQL responded to the commit with ${command}`)
    return readResults(queries, results)
  }

  async rollback(): Promise<void> {
    if (this.#state !== 'open') return
    this.#state = 'done'
    await this.#send('rollback')
  }

  /** The name of the first statement; empty if there was none. */
  get statement(): string {
    return this.#statement
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  #send(text: string): Promise<pg.QueryResult> {
    return this.#client.query(text)
  }

  #sendQuery(query: Query<unknown>): Promise<pg.QueryResult> {
    return this.#client.query({ name: query.name, text: query.text, values: [...query.values] })
  }
}

/**
 * Returns the error for a commit that failed. If the server responded with an error, nothing was committed. Without a
 * response the outcome is unknown.
 */
function toCommitFailure(commit: PromiseSettledResult<unknown>): unknown {
  const cause: unknown = commit.status === 'rejected' ? commit.reason : undefined
  const translated = translateError(cause)
  if (translated instanceof DatabaseError) return translated
  return new CommitUnknown('the connection was lost during a commit', { cause })
}

/**
 * Waits for all results, then throws the first failure. Later failures only say that the transaction has failed
 * already.
 */
async function settled(sent: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const outcomes = await Promise.allSettled(sent)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw translateError(outcome.reason)
    return outcome.value
  })
}
