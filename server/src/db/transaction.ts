import { DatabaseError } from 'pg'
import type pg from 'pg'
import { CommitUnknown, translateError } from './errors.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import { readResults, type Query, type Results } from './query.ts'

/** All exactness under locks rests on it: what is read after a lock was had shows what was committed before. */
const BEGIN = 'begin isolation level read committed'

/**
 * A transaction on one connection. `begin` travels with the first batch and `commit` with the last one, so a
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

  /** Runs the queries and commits, in one round trip. Nothing may follow. */
  async commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begins = this.#state === 'new'
    this.#state = 'done'
    const { sent, commit } = coalesceWrites(this.#client, () => ({
      sent: [...(begins ? [this.#send(BEGIN)] : []), ...queries.map((query) => this.#sendQuery(query))],
      commit: this.#send('commit'),
    }))
    // Everything is listened to at once: a statement may fail well before its commit is answered.
    const [[outcome], statements] = await Promise.all([Promise.allSettled([commit]), Promise.allSettled(sent)])
    const failed = statements.find((statement) => statement.status === 'rejected')
    // Only an answer of the server tells that a statement failed, and the commit with it.
    if (failed?.reason instanceof DatabaseError) throw translateError(failed.reason)
    if (outcome.status === 'rejected' || failed !== undefined) throw toCommitFailure(outcome)
    const results = (await settled(sent)).slice(begins ? 1 : 0)
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and no error.
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

/** A commit that the server refused in words did nothing; without an answer its outcome is not known. */
function toCommitFailure(commit: PromiseSettledResult<unknown>): unknown {
  const cause: unknown = commit.status === 'rejected' ? commit.reason : undefined
  const told = translateError(cause)
  if (told instanceof DatabaseError) return told
  return new CommitUnknown('the connection was lost during a commit', { cause })
}

/** Waits for all of them, then throws the first failure: later ones only say that the transaction had failed before. */
async function settled(sent: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const outcomes = await Promise.allSettled(sent)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw translateError(outcome.reason)
    return outcome.value
  })
}
