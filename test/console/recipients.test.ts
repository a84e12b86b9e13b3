import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Recipient } from '../../server/src/console/contract/recipients.ts'
import { SAVED_RECIPIENTS_MAX } from '../../server/src/domain/recipients/recipient.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { address, RECIPIENT } from '../support/context/seed.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const NONE = { type: 'not_found', code: 'recipient_not_found' } as const
const FULL = { type: 'conflict', code: 'recipient_limit_reached' } as const

describe('recipients in the dashboard', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server)
  })
  after(() => server.close())

  test('an address gets a label, then another one, and loses it; each change is in the audit log once', async () => {
    const made = await label(RECIPIENT.toLowerCase(), ' Shop ')
    assert.deepEqual(made, { address: RECIPIENT, label: 'Shop', created_at: made.created_at })
    assert.deepEqual(await list(), [made])
    assert.deepEqual(await label(RECIPIENT, 'Shop'), made)
    const renamed = await label(RECIPIENT, 'Corner shop')
    assert.deepEqual(renamed, { ...made, label: 'Corner shop' })
    assert.deepEqual(await list(), [renamed])
    assert.deepEqual(await remove(RECIPIENT.toLowerCase()), {})
    assert.deepEqual(await list(), [])
    const by = { actor_kind: 'user', actor_id: fixture.userId, subject: RECIPIENT }
    assert.deepEqual((await readAudit(server.context.db, fixture.workspace.id)).slice(-3), [
      { ...by, action: 'recipient.labeled', details: { mode: 'test', label: 'Shop' } },
      { ...by, action: 'recipient.labeled', details: { mode: 'test', label: 'Corner shop', before: 'Shop' } },
      { ...by, action: 'recipient.removed', details: { mode: 'test', label: 'Corner shop' } },
    ])
  })

  test('are listed by label, for one mode', async () => {
    for (const name of ['zoo', 'Bank', 'apple']) await label(makeAddress(), name)
    await label(RECIPIENT, 'Live one', 'live')
    assert.deepEqual(
      (await list()).map((recipient) => recipient.label),
      ['apple', 'Bank', 'zoo'],
    )
    assert.deepEqual(
      (await list('live')).map((recipient) => recipient.label),
      ['Live one'],
    )
  })

  test('there can be exactly a thousand in a mode, and they can still be renamed then', async () => {
    await readRows(
      server.context.db,
      `insert into recipients select $1, 'test', '0x' || lpad(to_hex(n), 40, '0'), 'Seeded ' || n, $2
        from generate_series(1, $3::integer) as n`,
      [fixture.workspace.id, server.clock.now(), SAVED_RECIPIENTS_MAX - 2],
    )
    await openConnections(server.context.db)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        fixture.browser.call('POST', fixture.at('recipients'), { mode: 'test', address: makeAddress(), label: 'Race' }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 6)
    for (const answer of refused)
      assert.deepEqual(expectError(answer, FULL).details, { recipients_max: SAVED_RECIPIENTS_MAX })
    const listed = await list()
    assert.equal(listed.length, SAVED_RECIPIENTS_MAX)
    assert.equal((await label(String(listed[0]?.address), 'Renamed')).label, 'Renamed')
    await label(RECIPIENT, 'Another mode', 'live')
    await remove(String(listed[1]?.address))
    await label(RECIPIENT, 'There is room')
  })

  test('a recipient of another workspace or mode, a removed one, and an unknown one are not found', async () => {
    await label(RECIPIENT, 'Shop')
    const other = await openConsoleFixture(server)
    await other.browser.refuse('DELETE', `${other.at(`recipients/${RECIPIENT}`)}?mode=test`, NONE)
    await fixture.browser.refuse('DELETE', `${fixture.at(`recipients/${RECIPIENT}`)}?mode=live`, NONE)
    await fixture.browser.refuse('DELETE', `${fixture.at('recipients/x')}?mode=test`, NONE)
    assert.equal((await list()).length, 1)
    await remove(RECIPIENT)
    await fixture.browser.refuse('DELETE', `${fixture.at(`recipients/${RECIPIENT}`)}?mode=test`, NONE)
  })

  const addresses: readonly unknown[] = [
    ...['x', '0x12', `${RECIPIENT}0`, RECIPIENT.replace('C', 'c'), `0x${'0'.repeat(40)}`],
  ]
  for (const wrong of addresses) {
    test(`${String(wrong)} cannot be a recipient`, async () => {
      await expectNamed({ mode: 'test', address: wrong, label: 'L' }, 'address', 'address_invalid')
    })
  }

  test('the USDC contract cannot be a recipient', async () => {
    const { usdc } = server.context.chains.test
    await expectNamed({ mode: 'test', address: usdc, label: 'L' }, 'address', 'address_invalid')
  })

  const bodies: readonly (readonly [string, object])[] = [
    ['mode', { address: RECIPIENT, label: 'L' }],
    ['mode', { mode: 'prod', address: RECIPIENT, label: 'L' }],
    ['address', { mode: 'test', label: 'L' }],
    ['address', { mode: 'test', address: [RECIPIENT], label: 'L' }],
    ['address', { mode: 'test', address: 'x'.repeat(101), label: 'L' }],
    ['label', { mode: 'test', address: RECIPIENT }],
    ['label', { mode: 'test', address: RECIPIENT, label: ' ' }],
    ['label', { mode: 'test', address: RECIPIENT, label: 'x'.repeat(101) }],
    ['label', { mode: 'test', address: RECIPIENT, label: 'a\u202eb' }],
  ]
  for (const [member, body] of bodies) {
    test(`${JSON.stringify(body).slice(0, 100)} is 400, and the error names ${member}`, () => expectNamed(body, member))
  }

  async function expectNamed(body: object, member: string, code?: 'address_invalid'): Promise<void> {
    const answer = await fixture.browser.call('POST', fixture.at('recipients'), body)
    const error = expectError(answer, { type: 'validation_failed', ...(code === undefined ? {} : { code }) })
    assert.equal((error.details as { path: string }[])[0]?.path, member)
    assert.deepEqual(await list(), [])
  }

  async function label(to: string, name: string, mode = 'test'): Promise<Recipient> {
    const body = { mode, address: to, label: name }
    return (await fixture.browser.ask<{ recipient: Recipient }>('POST', fixture.at('recipients'), body, 201)).recipient
  }

  async function list(mode = 'test'): Promise<readonly Recipient[]> {
    const path = `${fixture.at('recipients')}?mode=${mode}`
    return (await fixture.browser.ask<{ recipients: Recipient[] }>('GET', path)).recipients
  }

  async function remove(to: string): Promise<unknown> {
    return await fixture.browser.ask('DELETE', `${fixture.at(`recipients/${to}`)}?mode=test`)
  }
})

function makeAddress(): string {
  return address(`0x${randomBytes(20).toString('hex')}`)
}
