import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { after, afterEach, before, describe, test } from 'node:test'
import { announce } from '../../../../test/support/context/delivery-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { seedOwner, signInPerson, type Person } from '../../../../test/support/context/people.ts'
import { seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { Workspace } from '../../domain/workspaces/workspace.ts'
import { openPools } from '../../lib/pools.ts'
import { endSession } from '../../domain/sessions/end-session.ts'
import { ChangeStreams } from './change-streams.ts'
import { STREAM_TIMES } from './change-stream.ts'

describe('streams of changes', () => {
  let given: TestContext
  let workspace: Workspace
  let person: Person
  const opened: ChangeStreams[] = []
  before(async () => {
    given = await openTestContext()
    workspace = (await seed(given.context)).workspace
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((streams) => streams.close()))
  })
  after(() => given.close())

  test('a stream without changes sends heartbeats', async () => {
    const { text } = await listen({ heartbeatMs: 20 })
    await waitFor('two heartbeats', () => text().split(': still here\n\n').length > 2)
  })

  test('a stream ends after its lifetime', async () => {
    const { isOver } = await listen({ lifetimeMs: 20 })
    await waitFor('its end', isOver)
  })

  test('a stream ends when its session has ended', async () => {
    const { isOver, text } = await listen({ checkMs: 20 })
    await waitFor('a look', () => text().includes('ready'))
    assert.equal(isOver(), false)
    await endSession(given.context, { session: person.session })
    await waitFor('its end', isOver)
  })

  test('a stream ends when its person is no longer a member of the workspace', async () => {
    const { isOver } = await listen({ checkMs: 20 })
    await readRows(given.context.db, 'delete from members where user_id = $1', [person.userId])
    await waitFor('its end', isOver)
  })

  test('a listening page does not count as a person who uses it', async () => {
    const { text } = await listen({ checkMs: 20, heartbeatMs: 100 })
    const long = new Date(given.clock.now().getTime() - 60 * 60_000)
    await readRows(given.context.db, 'update sessions set last_seen_at = $1 where user_id = $2', [long, person.userId])
    await waitFor('some checks', () => text().split(': still here\n\n').length > 3)
    const [row] = await readRows(given.context.db, 'select last_seen_at from sessions where user_id = $1', [
      person.userId,
    ])
    assert.deepEqual(row?.['last_seen_at'], long)
  })

  test('a client that does not read is disconnected, and its data is not kept', async () => {
    const { source } = await open({ heartbeatMs: 1 })
    await waitFor('being dropped', () => source.destroyed)
    assert.ok(source.readableLength < 5_000)
  })

  test('the sixth stream of a session, and the eleventh of a person, replaces the oldest one', async () => {
    const streams = makeStreams()
    const person = await seedOwner(given.context, workspace, 'viewer')
    const other = (await signInPerson(given.context, person)).session
    const open = (own: Person['session'], count: number) => Array.from({ length: count }, () => openFor(streams, own))
    const first = open(person.session, 5).map(read)
    await waitFor('their beginning', () => first.every(({ text }) => text().includes('ready')))
    const [sixth] = open(person.session, 1).map(read)
    await waitFor('the end of the first', () => first[0]?.isOver())
    assert.match(first[0]?.text() ?? '', /retry: 60000\n\n$/)
    const all = [...first.slice(1), ...(sixth === undefined ? [] : [sixth]), ...open(other, 5).map(read)]
    assert.deepEqual(
      all.map(({ isOver }) => isOver()),
      all.map(() => false),
    )
    const third = (await signInPerson(given.context, person)).session
    const last = open(third, 1).map(read)
    await waitFor('the end of the oldest', () => all[0]?.isOver())
    assert.equal([...all, ...last].filter(({ isOver }) => isOver()).length, 1)
  })

  test('a client that disappeared without closing its stream keeps nobody out', async () => {
    const streams = makeStreams()
    const { session } = await seedOwner(given.context, workspace, 'viewer')
    // Nobody reads these streams, like those of a client that has disappeared.
    for (let count = 0; count < 12; count += 1) openFor(streams, session)
    const { text } = read(openFor(streams, session))
    await waitFor('a look', () => text().includes('ready'))
  })

  test('a workspace alone gets half of the streams; in a full process, a newcomer gets the newest of the largest workspace', async () => {
    const streams = makeStreams({}, { ...given.context, pools: openPools({ changeStreams: { placesMax: 8 } }) })
    const openOne = async (of: Workspace) => {
      const { session } = await seedOwner(given.context, of, 'viewer')
      return read(openFor(streams, session, of))
    }
    const large = [
      await openOne(workspace),
      await openOne(workspace),
      await openOne(workspace),
      await openOne(workspace),
    ]
    await refusesIn(streams, workspace)
    const others = await Promise.all(Array.from({ length: 6 }, async () => (await seed(given.context)).workspace))
    const open = [...large]
    for (const other of others) open.push(await openOne(other))
    await waitFor('the end of two', () => large.filter(({ isOver }) => isOver()).length === 2)
    assert.deepEqual(
      open.map(({ isOver }) => isOver()),
      open.map((_stream, index) => index === 2 || index === 3),
    )
    assert.match(large[3]?.text() ?? '', /retry: 60000\n\n$/)
    await waitFor('a look', () => open.at(-1)?.text().includes('ready'))
    await refusesIn(streams, workspace)
  })

  test('without listeners there are no queries', async () => {
    const [ours, others] = [countLooks(), countLooks()]
    const { session } = await seedOwner(given.context, workspace, 'viewer')
    const source = openFor(ours.streams, session)
    openFor(others.streams, session)
    await waitFor('looks', () => ours.count() > 0 && others.count() > 0)
    source.destroy()
    await waitFor('its end', () => source.closed)
    const [before, beforeOfOthers] = [ours.count(), others.count()]
    await waitFor('some time, told by the looks of others', () => others.count() > beforeOfOthers + 2)
    // One more poll is possible, because it may have been in progress.
    assert.ok(ours.count() <= before + 1)
    await ours.streams.close()
    assert.throws(() => openFor(ours.streams, session), { type: 'unavailable' })
  })

  test('the feed continues after the database was unreachable', async () => {
    let failures = 0
    const logger = Object.assign(Object.create(given.context.logger) as typeof given.context.logger, {
      warn: () => {
        failures += 1
      },
    })
    const streams = makeStreams({}, { ...given.context, logger })
    const { session } = await seedOwner(given.context, workspace, 'viewer')
    const { text } = read(openFor(streams, session))
    await waitFor('a look', () => text().includes('ready'))
    await readRows(given.context.db, 'alter table payment_refusals rename to away')
    await announce(given.context, workspace)
    await waitFor('a look that fails', () => failures > 0)
    assert.doesNotMatch(text(), /change/)
    await readRows(given.context.db, 'alter table away rename to payment_refusals')
    await waitFor('the change', () => text().includes('event: change'))
  })

  function makeStreams(times: Partial<typeof STREAM_TIMES> = {}, context = given.context): ChangeStreams {
    const streams = new ChangeStreams(context, { ...STREAM_TIMES, ...times })
    opened.push(streams)
    return streams
  }

  /** Counts polls. Each poll reads the clock once, and nothing else reads it meanwhile. */
  function countLooks() {
    let looks = 0
    const clock = {
      now: () => {
        looks += 1
        return given.clock.now()
      },
    }
    return { streams: makeStreams({}, { ...given.context, clock }), count: () => looks }
  }

  function openFor(streams: ChangeStreams, session: Person['session'], of = workspace): Readable {
    return streams.open({ place: { workspaceId: of.id, mode: 'test' }, session, slug: of.slug })
  }

  async function refusesIn(streams: ChangeStreams, of: Workspace): Promise<void> {
    const { session } = await seedOwner(given.context, of, 'viewer')
    assert.throws(() => openFor(streams, session, of), { type: 'rate_limited', code: 'rate_limit_exceeded' })
  }

  async function open(times: Partial<typeof STREAM_TIMES>) {
    const streams = makeStreams(times)
    person = await seedOwner(given.context, workspace, 'viewer')
    return { source: openFor(streams, person.session) }
  }

  async function listen(times: Partial<typeof STREAM_TIMES>) {
    return read((await open(times)).source)
  }

  function read(source: Readable) {
    let text = ''
    source.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    return { text: () => text, isOver: () => source.closed }
  }
})
