import { DatabaseError } from 'pg'
import type pg from 'pg'
import { CommitUnknown, translateError } from './errors.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import { readResults, type Query, type Results } from './query.ts'

/**
 * Locks make counts and sums exact only at this level: a read after the lock was granted sees everything committed
 * before.
 */
const BEGIN = 'begin isolation level read committed'

/**
 * A transaction on one connection. `begin` is sent with the first batch and `commit` with the last one, so a
 * transaction that reads once and writes once costs two round trips.
 */
export class Transaction {
  readonly #client: pg.Client
  #state: 'new' | 'open' | 'done' = 'new'

  constructor(client: pg.Client) {
    this.#client = client
  }

  /** Runs the queries in one round trip. */
  async batch<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begins = this.#state === 'new'
    this.#state = 'open'
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
    const { sent, commit } = coalesceWrites(this.#client, () => ({
      sent: [...(begins ? [this.#send(BEGIN)] : []), ...queries.map((query) => this.#sendQuery(query))],
      commit: this.#send('commit'),
    }))
    // All results are awaited together, because a statement may fail well before the response to the commit arrives.
    const [[outcome], statements] = await Promise.all([Promise.allSettled([commit]), Promise.allSettled(sent)])
    const failed = statements.find((statement) => statement.status === 'rejected')
    // Only an error response of the server proves that a statement failed, and so that the commit failed too.
    if (failed?.reason instanceof DatabaseError) throw translateError(failed.reason)
    if (outcome.status === 'rejected' || failed !== undefined) throw toCommitFailure(outcome)
    const results = (await settled(sent)).slice(begins ? 1 : 0)
    // PostgreSQL responds to the commit of a failed transaction with ROLLBACK, without an error.
    const { command } = await commit
    if (command !== 'COMMIT') throw new Error(`the commit was answered with ${command}`)
    return readResults(queries, results)
  }

  async rollback(): Promise<void> {
    if (this.#state !== 'open') return
    this.#state = 'done'
    await this.#send('rollback')
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
 * If the server refused the commit with an error, nothing was committed. Without a response the outcome is not known.
 */
function toCommitFailure(commit: PromiseSettledResult<unknown>): unknown {
  const cause: unknown = commit.status === 'rejected' ? commit.reason : undefined
  const translated = translateError(cause)
  if (translated instanceof DatabaseError) return translated
  return new CommitUnknown('the connection was lost during a commit', { cause })
}

/**
 * Waits for all results, then throws the first failure: later ones only say that the transaction has failed already.
 */
async function settled(sent: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const outcomes = await Promise.allSettled(sent)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw translateError(outcome.reason)
    return outcome.value
  })
}
