import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { readAudit } from '../support/context/audit.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import { createKey } from './credentials.ts'
import { readSession } from './person.ts'

const BAD_NAMES = ['', '   ', '\u200b', 'x'.repeat(101), 'a\u202eb', 'two\nlines']

interface Named {
  readonly name: string
}

/** Something that has a name: where it is renamed, and how its name is read. */
interface Target {
  readonly path: string
  /** The members of the request beside the name. */
  readonly body?: object
  /** The details of the audit entry beside the names. */
  readonly details?: object
  /** The member with the name, if it is not `name`. */
  readonly member?: string
  readonly read: () => Promise<string | null | undefined>
  readonly action: string
  readonly subject: string | null
}

describe('a new name', () => {
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

  const targets: Readonly<Record<string, () => Promise<Target>>> = {
    agent: async () => ({
      path: owner.at(`agents/${seeded.agentId}`),
      member: 'label',
      body: { mode: 'test' },
      details: { mode: 'test' },
      read: async () => {
        const { agents } = await owner.browser.ask<{ agents: { label: string | null }[] }>(
          'GET',
          owner.at('agents?mode=test'),
        )
        return agents[0]?.label
      },
      action: 'agent.labeled',
      subject: seeded.agentId,
    }),
    workspace: async () => ({
      path: owner.at(''),
      read: async () => (await owner.browser.ask<{ workspace: Named }>('GET', owner.at(''))).workspace.name,
      action: 'workspace.renamed',
      subject: seeded.workspace.id,
    }),
    wallet: async () => ({
      path: owner.at(`wallets/${seeded.wallet.toLowerCase()}`),
      body: { mode: 'test' },
      details: { mode: 'test' },
      read: async () =>
        (await owner.browser.ask<{ wallets: Named[] }>('GET', owner.at('wallets?mode=test'))).wallets[0]?.name,
      action: 'wallet.renamed',
      subject: seeded.wallet,
    }),
    'API key': async () => {
      const { key } = await createKey(owner, 'test')
      return {
        path: owner.at(`keys/${key.id}`),
        read: async () => (await owner.browser.ask<{ keys: Named[] }>('GET', owner.at('keys?mode=test'))).keys[0]?.name,
        details: { mode: 'test' },
        action: 'key.renamed',
        subject: key.id,
      }
    },
    person: async () => ({
      path: '/console/user',
      read: async () => (await readSession(owner.browser))?.user.name,
      action: 'user.renamed',
      subject: null,
    }),
    'sign-in passkey': async () => {
      const list = async () =>
        (await owner.browser.ask<{ passkeys: (Named & { id: string })[] }>('GET', '/console/passkeys')).passkeys
      return {
        path: `/console/passkeys/${(await list())[0]?.id ?? ''}`,
        read: async () => (await list())[0]?.name,
        action: 'passkey.renamed',
        subject: null,
      }
    },
  }
  for (const [name, find] of Object.entries(targets)) {
    test(`of a ${name} is trimmed and shown, recorded once with its old name, and must be visible`, async () => {
      const { path, body, details, member = 'name', read, action, subject } = await find()
      const old = await read()
      for (const bad of BAD_NAMES) {
        const answer = await owner.browser.call('PATCH', path, { ...body, [member]: bad })
        assert.equal(answer.status, 400, bad)
        assert.match(answer.text, new RegExp(member))
      }
      assert.equal(await read(), old)
      await owner.browser.ask('PATCH', path, { ...body, [member]: '  Zürich 2  ' })
      await owner.browser.ask('PATCH', path, { ...body, [member]: 'Zürich 2' })
      assert.equal(await read(), 'Zürich 2')
      const rows = (await readAudit(server.context.db, seeded.workspace.id)).filter((row) => row['action'] === action)
      const expected = { ...details, [member]: 'Zürich 2', before: old }
      const row = { actor_kind: 'user', actor_id: owner.userId, action, subject }
      // A workspace does not learn the names of a person's passkeys.
      assert.deepEqual(rows, [{ ...row, details: action === 'passkey.renamed' ? {} : expected }])
    })
  }

  test('is not given to what is in another workspace or mode, or belongs to another person', async () => {
    const stranger = await openConsoleFixture(server, { name: 'Eve' })
    const { key } = await createKey(owner, 'test')
    const body = { mode: 'test', name: 'Mine' }
    const [passkey] = (await owner.browser.ask<{ passkeys: { id: string }[] }>('GET', '/console/passkeys')).passkeys
    await stranger.browser.refuse(
      'PATCH',
      stranger.at(`wallets/${seeded.wallet}`),
      { type: 'not_found', code: 'wallet_not_found' },
      body,
    )
    await owner.browser.refuse(
      'PATCH',
      owner.at(`wallets/${seeded.wallet}`),
      { type: 'not_found', code: 'wallet_not_found' },
      { ...body, mode: 'live' },
    )
    await stranger.browser.refuse(
      'PATCH',
      stranger.at(`keys/${key.id}`),
      { type: 'not_found', code: 'key_not_found' },
      body,
    )
    await stranger.browser.refuse('PATCH', `/console/passkeys/${passkey?.id ?? ''}`, { type: 'not_found' }, body)
  })

  test('of a workspace is given by its owners only', async () => {
    const admin = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'admin' })
    await admin.browser.refuse(
      'PATCH',
      admin.at(''),
      { type: 'forbidden', code: 'role_insufficient' },
      { name: 'Mine' },
    )
  })
})
