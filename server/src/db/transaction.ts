import type pg from 'pg'
import { CommitUnknown, translateError } from './errors.ts'
import type { Query, Results } from './query.ts'
import { readResult } from './query.ts'

/**
 * A transaction on one connection. `begin` travels with the first batch and `commit` with the last one, so a
 * transaction that reads once and writes once costs two round trips.
 */
export class Transaction {
  readonly #client: pg.ClientBase
  #state: 'new' | 'open' | 'done' = 'new'

  constructor(client: pg.ClientBase) {
    this.#client = client
  }

  /** Runs the queries in one round trip. */
  async batch<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begin = this.#state === 'new' ? [this.#send('begin')] : []
    this.#state = 'open'
    const results = await settled([...begin, ...queries.map((query) => this.#sendQuery(query))])
    return queries.map((query, index) => readResult(query, at(results, index + begin.length))) as Results<Queries>
  }

  async run<Result>(query: Query<Result>): Promise<Result> {
    const [result] = await this.batch([query] as const)
    return result
  }

  /** Runs the queries and commits, in one round trip. Nothing may follow. */
  async commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const begin = this.#state === 'new' ? [this.#send('begin')] : []
    this.#state = 'done'
    const sent = [...begin, ...queries.map((query) => this.#sendQuery(query))]
    const commit = this.#send('commit')
    const [outcome] = await Promise.allSettled([commit])
    const results = await settled(sent)
    if (outcome.status === 'rejected') {
      throw new CommitUnknown('the connection was lost during a commit', { cause: outcome.reason })
    }
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and no error.
    if (outcome.value.command !== 'COMMIT') throw new Error(`the commit was answered with ${outcome.value.command}`)
    return queries.map((query, index) => readResult(query, at(results, index + begin.length))) as Results<Queries>
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

/** Waits for all of them, then throws the first failure: later ones only say that the transaction had failed before. */
async function settled(sent: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const outcomes = await Promise.allSettled(sent)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw translateError(outcome.reason)
    return outcome.value
  })
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index]
  if (item === undefined) throw new Error(`no result ${index}`)
  return item
}
