import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { AuditEntry } from '../../server/src/console/contract/audit.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { send } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import { createKey, membershipOf } from './credentials.ts'

const INVALID = { type: 'validation_failed' } as const

describe('the audit log in the dashboard', () => {
  let server: ConsoleServer
  let seeded: Seed
  let owner: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    seeded = await seed(server.context)
    owner = await openConsoleFixture(server, { workspace: seeded.workspace, name: 'Olga' })
  })
  after(() => server.close())

  test('names keys, applications, wallets and people, and says the mode of an ended connection', async () => {
    const { key, secret } = await createKey(owner, 'test', { name: 'Billing bot' })
    const made = await send(server.url, { method: 'POST', path: '/v1/agents', key: secret, body: { id: 'made' } })
    assert.equal(made.status, 201)
    const { client } = await seedTokens(server.context, { membership: await membershipOf(server, owner) })
    const { connections } = await owner.browser.ask<{ connections: readonly { id: string }[] }>(
      'GET',
      owner.at('connections?mode=test'),
    )
    const connection = connections[0]?.id ?? ''
    await owner.browser.ask('DELETE', owner.at(`connections/${connection}`))
    const [ended, approved] = await list('action=connection')
    assert.deepEqual(
      [ended?.action, ended?.subject, ended?.known_subject?.name, ended?.mode],
      ['connection.revoked', connection, client.name, 'test'],
    )
    assert.deepEqual(
      [approved?.action, approved?.actor.known],
      ['connection.approved', { name: 'Olga', former: false }],
    )
    const [byKey, ...others] = await list(`actor=${key.id}`)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [byKey?.action, byKey?.actor],
      ['agent.created', { kind: 'key', id: key.id, known: { name: 'Billing bot', former: false } }],
    )
    const [issued] = await list('action=key.issued')
    assert.deepEqual([issued?.subject, issued?.known_subject?.name], [key.id, 'Billing bot'])
    await owner.browser.ask('POST', owner.at(`grants/${seeded.grant.id}/suspend`), {})
    const [suspended] = await list('action=grant.suspended')
    assert.deepEqual(
      [suspended?.details['wallet'], suspended?.known_details['wallet']?.name],
      [seeded.wallet, 'Seeded'],
    )
  })

  test('shows only the host of a webhook, because the path of its URL may contain a secret', async () => {
    const body = { mode: 'test', url: 'https://hooks.example/services/T0/secret', events: ['payment.confirmed'] }
    await owner.browser.ask('POST', owner.at('webhooks'), body, 201)
    const [entry] = await list('action=webhook.created')
    assert.equal(entry?.known_subject?.name, 'hooks.example')
    assert.ok(!JSON.stringify(entry).includes('secret'))
  })

  test('is filtered by person, action and time, and names a parameter that it does not understand', async () => {
    const max = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'admin', name: 'Max' })
    await createKey(max, 'test')
    await createKey(owner, 'test')
    const actions = async (query: string) => (await list(query)).map(({ action, actor }) => [action, actor.known?.name])
    assert.deepEqual(await actions(`actor=${max.userId}`), [['key.issued', 'Max']])
    assert.deepEqual(await actions('actor=user&action=key'), [
      ['key.issued', 'Olga'],
      ['key.issued', 'Max'],
    ])
    assert.deepEqual(
      await actions('actor=user&action=key.issued&from=2000-01-01T00:00:00Z'),
      await actions('actor=user&action=key'),
    )
    assert.deepEqual(await actions('action=key&to=2000-01-01T00:00:00Z'), [])
    for (const query of ['action=nonsense', 'action=key.', 'from=yesterday', 'to=x', 'actor=%00', 'before=x']) {
      const name = query.split('=')[0] ?? ''
      const answer = await owner.browser.call('GET', owner.at(`audit?${query}`))
      assert.equal(answer.status, 400, query)
      assert.match(answer.text, new RegExp(name), query)
    }
    await owner.browser.refuse('GET', owner.at('audit?action=nonsense'), INVALID)
  })

  async function list(query: string): Promise<readonly AuditEntry[]> {
    const path = owner.at(`audit?${query}`)
    return (await owner.browser.ask<{ entries: readonly AuditEntry[] }>('GET', path)).entries
  }
})
