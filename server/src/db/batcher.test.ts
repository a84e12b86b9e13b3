import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { Batcher, ITEMS_PER_BATCH_MAX, ITEMS_WAITING_MAX, POSTPONED } from './batcher.ts'
import { DatabaseServers, type SessionSettings } from './database-servers.ts'
import { DatabaseUnavailable } from './errors.ts'
import { gathered, type GatheringLane } from './gathered-query.ts'
import { openPipelinedConnection, type PipelinedConnection } from './pipelined-connection.ts'

interface Answer {
  readonly word: string
  /** How many items were in the statement. */
  readonly size: number
}

/**
 * The words that `answer` treats specially: `divide` fails, `conflict` fails three times like a deadlock, and `locked`
 * needs the lock of a row.
 */
const CREATE = `
  create table words (word text primary key);
  insert into words values ('locked');
  create sequence conflicts;
  create function answer(word text) returns text language plpgsql as $$
  begin
    if word = 'divide' then raise exception using errcode = '22012'; end if;
    if word = 'conflict' and nextval('conflicts') <= 3 then raise exception using errcode = '40P01'; end if;
    if word = 'always conflict' then raise exception using errcode = '40P01'; end if;
    perform from words where words.word = answer.word for update;
    return word;
  end $$`

/** The word is the key, so equal words run one after the other. */
const BY_WORD = gathered<string, Answer>({ keyOf: (word) => word, queryOf })
const INDEPENDENT = gathered<string, Answer>({ keyOf: () => null, queryOf })

function queryOf(words: readonly string[]) {
  return {
    name: 'test_gathered',
    text: 'select answer(word) as word from unnest($1::text[]) with ordinality as i (word, n) order by n',
    values: [words],
    read: (rows: readonly Readonly<Record<string, unknown>>[]) =>
      rows.map((row): Answer => ({ word: String(row['word']), size: words.length })),
  }
}

describe('the batcher', () => {
  let fresh: FreshDatabase
  let other: pg.Client
  let batcher: Batcher<GatheringLane>
  let connections: PipelinedConnection[]
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    other = new pg.Client({ connectionString: fresh.url })
    await other.connect()
    await other.query(CREATE)
  })
  after(async () => {
    await other.end()
    await fresh.drop()
  })
  beforeEach(() => {
    batcher = open()
  })
  afterEach(close)

  test('items of one turn share a statement, and each gets its own result', async () => {
    const words = Array.from({ length: 10 }, (_, index) => `word ${index}`)
    const answers = await Promise.all(words.map((word) => batcher.run(BY_WORD, word)))
    assert.deepEqual(
      answers,
      words.map((word) => ({ word, size: 10 })),
    )
  })

  test('a statement has a limited number of items', async () => {
    const words = Array.from({ length: 3 * ITEMS_PER_BATCH_MAX + 5 }, (_, index) => `word ${index}`)
    const answers = await Promise.all(words.map((word) => batcher.run(INDEPENDENT, word)))
    assert.deepEqual(
      answers.map(({ word }) => word),
      words,
    )
    assert.ok(answers.every(({ size }) => size <= ITEMS_PER_BATCH_MAX))
  })

  test('items with the same key are never in one statement, and never in two at once', async () => {
    let running = 0
    const watched = gathered<string, Answer>({
      keyOf: (word) => word,
      queryOf(words) {
        assert.equal(new Set(words).size, words.length)
        if (words.includes('same')) running += 1
        assert.ok(running <= 1)
        const query = queryOf(words)
        return {
          ...query,
          read(rows) {
            if (words.includes('same')) running -= 1
            return query.read(rows)
          },
        }
      },
    })
    const words = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? `word ${index}` : 'same'))
    const answers = await Promise.all(words.map((word) => batcher.run(watched, word)))
    assert.deepEqual(
      answers.map(({ word }) => word),
      words,
    )
  })

  test('a result that is shared is also that of the items with the same key that wait, and of no later one', async () => {
    let statements = 0
    const sharing = gathered<string, Answer>({
      keyOf: (word) => word,
      isShared: ({ word }) => word === 'shared',
      queryOf(words) {
        statements += 1
        return queryOf(words)
      },
    })
    const answers = await Promise.all(Array.from({ length: 10 }, () => batcher.run(sharing, 'shared')))
    for (const { word } of answers) assert.equal(word, 'shared')
    assert.equal(statements, 1)
    await batcher.run(sharing, 'shared')
    assert.equal(statements, 2)
    await Promise.all(Array.from({ length: 3 }, () => batcher.run(sharing, 'single')))
    assert.equal(statements, 5)
  })

  test('items without keys share a statement although they are equal', async () => {
    const answers = await Promise.all(['same', 'same'].map((word) => batcher.run(INDEPENDENT, word)))
    for (const answer of answers) assert.deepEqual(answer, { word: 'same', size: 2 })
  })

  test('an item that the database rejects fails alone, and the others get their results', async () => {
    const words = ['before', 'divide', 'behind']
    const [before, failed, behind] = await Promise.allSettled(words.map((word) => batcher.run(BY_WORD, word)))
    assert.deepEqual(before, { status: 'fulfilled', value: { word: 'before', size: 1 } })
    assert.deepEqual(behind, { status: 'fulfilled', value: { word: 'behind', size: 1 } })
    assert.ok(failed?.status === 'rejected' && (failed.reason as { code: string }).code === '22012')
  })

  test('a deadlock is retried, but not forever', async () => {
    const answers = await Promise.all(['one', 'conflict'].map((word) => batcher.run(BY_WORD, word)))
    assert.deepEqual(
      answers.map(({ word }) => word),
      ['one', 'conflict'],
    )
    await assert.rejects(batcher.run(BY_WORD, 'always conflict'), { code: '40P01' })
  })

  test('an item that its statement has postponed is run again', async () => {
    const runs: string[][] = []
    const postponing = gathered<string, Answer>({
      keyOf: (word) => word,
      queryOf(words) {
        runs.push([...words])
        const query = queryOf(words)
        return { ...query, read: (rows) => query.read(rows).map((one, index) => (index === 0 ? one : POSTPONED)) }
      },
    })
    const answers = await Promise.all(['a', 'b', 'c'].map((word) => batcher.run(postponing, word)))
    assert.deepEqual(
      answers.map(({ word }) => word),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(runs, [['a', 'b', 'c'], ['b', 'c'], ['c']])
  })

  test('an error of the reader rejects all items, and does not run the statement again', async () => {
    let runs = 0
    const failing = gathered<string, Answer>({
      keyOf: (word) => word,
      queryOf(words) {
        runs += 1
        return {
          ...queryOf(words),
          read() {
            throw new TypeError('unreadable')
          },
        }
      },
    })
    const outcomes = await Promise.allSettled(['a', 'b'].map((word) => batcher.run(failing, word)))
    for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && outcome.reason instanceof TypeError)
    assert.equal(runs, 1)
  })

  test('a statement that waits for a locked row holds up neither other items nor a second statement', async () => {
    const release = await holdRow()
    const locked = ['locked', 'locked'].map((word) => batcher.run(BY_WORD, word))
    await waitUntilBlocked(1)
    for (const word of ['a', 'b']) assert.equal((await batcher.run(BY_WORD, word)).word, word)
    await release()
    for (const answer of locked) assert.equal((await answer).word, 'locked')
  })

  test('if a row stays locked, the other items of its statement continue, and its own are rejected', async () => {
    await close()
    batcher = open({ lock_timeout: '100' })
    const release = await holdRow()
    const words = ['a', 'locked', 'b', 'locked']
    const outcomes = await Promise.allSettled(words.map((word) => batcher.run(BY_WORD, word)))
    await release()
    const results = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.word : outcome.reason))
    assert.deepEqual([results[0], results[2]], ['a', 'b'])
    for (const error of [results[1], results[3]]) assert.ok(error instanceof DatabaseUnavailable)
    assert.equal((await batcher.run(BY_WORD, 'locked')).word, 'locked')
  })

  test('if the database is lost, all items are rejected, and later items run again', async () => {
    const release = await holdRow()
    // The first two occupy both connections, so the third waits.
    const items = [batcher.run(BY_WORD, 'locked')]
    await waitUntilBlocked(1)
    items.push(batcher.run(INDEPENDENT, 'locked'))
    await waitUntilBlocked(2)
    items.push(batcher.run(BY_WORD, 'waiting'))
    const settled = Promise.allSettled(items)
    await other.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${BLOCKED}`)
    for (const outcome of await settled) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable)
    }
    await release()
    // The client notices a lost connection only a moment later. Until then, an item may be lost with it.
    await waitFor('both connections to be open again', async () => {
      const outcomes = await Promise.allSettled([batcher.run(BY_WORD, 'a'), batcher.run(INDEPENDENT, 'a')])
      return outcomes.every(({ status }) => status === 'fulfilled')
    })
  })

  test('an item is rejected while too many are waiting, and later ones are accepted', async () => {
    const items = Array.from({ length: ITEMS_WAITING_MAX }, () => batcher.run(INDEPENDENT, 'word'))
    await assert.rejects(batcher.run(INDEPENDENT, 'one too many'), DatabaseUnavailable)
    assert.ok((await Promise.all(items)).every(({ word }) => word === 'word'))
    assert.equal((await batcher.run(INDEPENDENT, 'word')).word, 'word')
  })

  test('if it is closed, the waiting items are rejected, and new ones too', async () => {
    const waiting = batcher.run(BY_WORD, 'word')
    batcher.close()
    await assert.rejects(waiting, DatabaseUnavailable)
    await assert.rejects(batcher.run(BY_WORD, 'word'), DatabaseUnavailable)
  })

  function open(settings: SessionSettings = {}): Batcher<GatheringLane> {
    const source = { servers: new DatabaseServers(fresh.url), settings }
    connections = Array.from({ length: 2 }, () => openPipelinedConnection(source, { sending: 'at once' }))
    return new Batcher(connections)
  }

  async function close(): Promise<void> {
    batcher.close()
    await Promise.all(connections.map((connection) => connection.close()))
  }

  /** Locks the row of `locked` until the returned function is called. */
  async function holdRow(): Promise<() => Promise<void>> {
    const holder = new pg.Client({ connectionString: fresh.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query(`select from words where word = 'locked' for update`)
    return async () => {
      await holder.query('rollback')
      await holder.end()
    }
  }

  async function waitUntilBlocked(count: number): Promise<void> {
    const text = `select count(*)::int as blocked from pg_stat_activity where ${BLOCKED}`
    await waitFor(`${count} statements to wait for the row`, async () => {
      const { rows } = await other.query<{ blocked: number }>(text)
      return rows[0]?.blocked === count
    })
  }
})

const BLOCKED = `datname = current_database() and wait_event_type = 'Lock'`
