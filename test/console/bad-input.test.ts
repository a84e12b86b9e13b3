import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser } from './browser.ts'
import { openVisitor, type Visitor, type WireWorkspace } from './person.ts'

const BODY_BYTES_MAX = 64 * 1_024
const INVALID = { type: 'validation_failed' } as const

const WEBHOOK = 'whk_01J00000000000000000000000'
const DELIVERY = 'dlv_01J00000000000000000000000'
const GRANT = 'grt_01J00000000000000000000000'
/** A request in which every field is optional. */
const CHANGE_OF_WEBHOOK = `PATCH /console/workspaces/SLUG/webhooks/${WEBHOOK}`

/**
 * Endpoints that accept a body, each with a valid one. `SLUG` stands for the slug of the visitor's own workspace,
 * `USER` for the visitor's id.
 */
const ENDPOINTS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['POST /console/sign-up/options', { name: 'Ada' }],
  ['POST /console/sign-up', { response: registration() }],
  ['POST /console/sign-in/options', {}],
  ['POST /console/sign-in', { response: assertion() }],
  ['POST /console/sign-out', {}],
  ['POST /console/sign-out-elsewhere', {}],
  ['POST /console/recovery', { code: 'x' }],
  ['POST /console/recovery-codes', {}],
  ['POST /console/verification/options', {}],
  ['POST /console/verification', { response: assertion() }],
  ['POST /console/passkeys/options', {}],
  ['POST /console/passkeys', { response: registration(), name: 'Key' }],
  ['POST /console/workspaces', { name: 'Acme' }],
  ['PATCH /console/workspaces/SLUG/members/USER', { role: 'owner' }],
  ['POST /console/workspaces/SLUG/invitations', { role: 'viewer' }],
  ['POST /console/invitations/look-up', { token: 'x' }],
  ['POST /console/invitations/accept', { token: 'x' }],
  ['POST /console/workspaces/SLUG/agents', { mode: 'test', id: 'a' }],
  [`POST /console/workspaces/SLUG/grants/${GRANT}/signing-request`, { change: 'activate' }],
  [`POST /console/workspaces/SLUG/grants/${GRANT}/signature`, { response: assertion() }],
  [`POST /console/workspaces/SLUG/grants/${GRANT}/suspend`, {}],
  [
    'POST /console/workspaces/SLUG/webhooks',
    { mode: 'test', url: 'https://hooks.example/x', events: ['payment.confirmed'] },
  ],
  [CHANGE_OF_WEBHOOK, { url: 'https://hooks.example/x', events: ['payment.confirmed'] }],
  [`POST /console/workspaces/SLUG/webhooks/${WEBHOOK}/rotate-secret`, {}],
  [`POST /console/workspaces/SLUG/webhooks/${WEBHOOK}/test`, {}],
  [
    `POST /console/workspaces/SLUG/webhooks/${WEBHOOK}/replay`,
    { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', only: 'failed' },
  ],
  [`POST /console/workspaces/SLUG/deliveries/${DELIVERY}/replay`, {}],
]

const BODIES: readonly (readonly [string, string | Buffer])[] = [
  ['empty', ''],
  ['an array', '[]'],
  ['null', 'null'],
  ['a string', '"name"'],
  ['a number', '7'],
  ['not JSON', '{name: 1}'],
  ['cut short', '{"name":"a"'],
  ['a prototype', '{"name":"a","__proto__":{"admin":true}}'],
  ['10,000 levels deep', '['.repeat(10_000) + ']'.repeat(10_000)],
  ['with bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
]

/** Values that are not valid for any field of any body. */
const WRONG = [7, true, null, [], {}, [['x']], 'x'.repeat(60_000), ''] as const

const NAMES: readonly (readonly [string, string])[] = [
  ['white space only', ' \t '],
  ['NUL', 'a\u0000b'],
  ['a line break', 'a\nb'],
  ['a lone surrogate', 'a\ud800'],
  ['a character that reverses the direction of text', 'a\u202eb'],
  ['a line separator', 'a\u2028b'],
  ['101 characters', 'x'.repeat(101)],
]

describe("bad input to the dashboard's endpoints is rejected with its own errors, and changes nothing", () => {
  let server: ConsoleServer
  let visitor: Visitor
  let workspace: WireWorkspace
  let minutes = 0
  before(async () => {
    server = await openConsoleServer()
    visitor = await openVisitor(server)
    const made = await visitor.browser.ask<{ workspace: WireWorkspace }>(
      'POST',
      '/console/workspaces',
      { name: 'A' },
      201,
    )
    workspace = made.workspace
  })
  // Each test moves the clock to a new minute, so that its rate limit is unused (D33).
  beforeEach(() => server.clock.setOffset((minutes += 1) * 60_000))
  after(() => server.close())

  describe('an endpoint', () => {
    let before: readonly unknown[]
    beforeEach(async () => {
      before = await countRows()
    })
    afterEach(async () => assert.deepEqual(await countRows(), before))

    for (const [endpoint, whole] of ENDPOINTS) {
      test(`${endpoint}: a body that is not a JSON object is 400`, async () => {
        for (const [name, body] of BODIES) {
          const answer = await callAs(endpoint)(body)
          assert.equal(answer.status, 400, name)
          expectError(answer, INVALID)
        }
        expectError(await callAs(endpoint)(undefined, ['content-length', '0']), INVALID)
      })

      test(`${endpoint}: another content type is 415, and more than 64 KiB is 413`, async () => {
        const big = JSON.stringify({ ...whole, pad: 'x'.repeat(BODY_BYTES_MAX) })
        expectError(await callAs(endpoint)(big), { type: 'payload_too_large' })
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
          const body = Buffer.from(JSON.stringify(whole))
          expectError(await callAs(endpoint)(body, ['content-type', type]), { type: 'unsupported_media_type' })
        }
      })

      for (const member of Object.keys(whole)) {
        test(`${endpoint}: a wrong or missing ${member} is 400 and is named in the error`, async () => {
          for (const value of [...(endpoint === CHANGE_OF_WEBHOOK ? [] : [undefined]), ...WRONG]) {
            await expectInvalid(endpoint, { ...whole, [member]: value }, member)
          }
        })
      }

      const response = whole['response'] as Record<string, unknown> | undefined
      for (const field of response === undefined ? [] : members(response)) {
        test(`${endpoint}: a passkey's response with a wrong ${field.join('.')} is 400, and the field is named`, async () => {
          for (const value of [undefined, ...WRONG, 'with space', 'a+b/c=', '\u0000', 'é', 'x'.repeat(40_000)]) {
            const body = { ...whole, response: withMember(response ?? {}, field, value) }
            await expectInvalid(endpoint, body, ['response', ...field].join('.'))
          }
        })
      }

      for (const [what, name] of whole['name'] === undefined ? [] : NAMES) {
        test(`${endpoint}: a name with ${what} is 400 and is named in the error`, async () => {
          await expectInvalid(endpoint, { ...whole, name }, 'name')
        })
      }
    }
  })

  for (const [endpoint, whole] of ENDPOINTS) {
    test(`${endpoint}: unknown fields are ignored`, async () => {
      const plain = await callAs(endpoint)(whole)
      const more = await callAs(endpoint)({ ...whole, admin: true, user_id: 'usr_x' })
      assert.equal(more.status, plain.status, more.text)
    })
  }

  for (const role of ['Owner', 'root', 'owner ', 'operator', '__proto__']) {
    test(`the role ${role} does not exist`, async () => {
      for (const endpoint of [
        'PATCH /console/workspaces/SLUG/members/USER',
        'POST /console/workspaces/SLUG/invitations',
      ]) {
        expectNamed(expectError(await callAs(endpoint)({ role }), INVALID).details, 'role')
      }
    })
  }

  for (const id of ['x'.repeat(65), ' a', 'a\u0000', '.', '..', 'a\u200bb', '\u202e', 'x'.repeat(300)]) {
    test(`the agent id ${JSON.stringify(id).slice(0, 20)} is not allowed`, async () => {
      const answer = await callAs('POST /console/workspaces/SLUG/agents')({ mode: 'test', id })
      expectNamed(expectError(answer, INVALID).details, 'id')
    })
  }

  for (const query of ['', '?mode=', '?mode=prod', '?mode=test&mode=live', '?mode[]=test', '?mode=Test', '?mode=%00']) {
    test(`the error for agents${query} names mode`, async () => {
      const answer = await visitor.browser.call('GET', `/console/workspaces/${workspace.slug}/agents${query}`)
      expectNamed(expectError(answer, INVALID).details, 'mode')
    })
  }

  const events: readonly (readonly [string, unknown])[] = [
    ['an unknown kind', ['payment.confirmed', 'payment.lost']],
    ['a kind twice', ['payment.confirmed', 'payment.confirmed']],
    ['a type that nobody can subscribe to', ['webhook.test']],
    ['a pattern', ['payment.*']],
    ['a text instead of a list', 'payment.confirmed'],
  ]
  for (const [what, value] of events) {
    test(`a webhook for ${what} is 400, and the error names events`, async () => {
      const whole = { mode: 'test', url: 'https://hooks.example/x', events: value }
      await expectInvalid('POST /console/workspaces/SLUG/webhooks', whole, 'events')
      await expectInvalid(CHANGE_OF_WEBHOOK, { events: value }, 'events')
    })
  }

  test('enabled must be true or false', async () => {
    for (const enabled of ['true', 1, 0, null, [], {}, '']) {
      await expectInvalid(CHANGE_OF_WEBHOOK, { enabled }, 'enabled')
    }
  })

  const TIMES = ['soon', '2026-01-01', '2026-01-01T00:00:00', '2026-02-30T00:00:00Z', '1767225600']
  for (const member of ['from', 'to']) {
    test(`a replay ${member} a malformed time is 400, and the field is named`, async () => {
      const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', only: 'all' }
      for (const time of TIMES) {
        const body = { ...range, [member]: time }
        await expectInvalid(`POST /console/workspaces/SLUG/webhooks/${WEBHOOK}/replay`, body, member)
      }
    })
  }

  test('a replay whose end is not after its start is 400', async () => {
    for (const to of ['2026-01-01T00:00:00Z', '2025-12-31T23:59:59Z', '2026-01-01T01:00:00+02:00']) {
      const body = { from: '2026-01-01T00:00:00Z', to, only: 'all' }
      await expectInvalid(`POST /console/workspaces/SLUG/webhooks/${WEBHOOK}/replay`, body, 'to')
    }
  })

  const parameters: readonly (readonly [string, readonly string[]])[] = [
    ['mode', ['', 'prod', 'Test', '%00']],
    ['webhook', ['', 'x', 'whk_', WEBHOOK.toLowerCase(), DELIVERY, '%00']],
    ['type', ['', 'payment', 'payment.confirmed,payment.failed', '%00']],
    ['status', ['', 'done', 'pending,failed', 'PENDING']],
    ['event', ['', 'x', 'evt_', WEBHOOK, '%00']],
    ['from', ['', 'soon', '2026-01-01', 'x'.repeat(40)]],
    ['to', ['', 'soon', '2026-01-01T00:00:00', '%00']],
    ['before', ['', 'x', 'dlv_', WEBHOOK, `${DELIVERY}_`, '%00']],
  ]
  for (const [name, values] of parameters) {
    test(`deliveries with a wrong ${name} are 400, and the error names it`, async () => {
      for (const value of [...values, `x&${name}=y`]) {
        const query = `${name === 'mode' ? '' : 'mode=test&'}${name}=${value}`
        const answer = await visitor.browser.call('GET', `/console/workspaces/${workspace.slug}/deliveries?${query}`)
        expectNamed(expectError(answer, INVALID).details, name)
      }
    })
  }

  for (const query of ['', '?mode=', '?mode=prod', '?mode=test&mode=live']) {
    test(`the errors for webhooks${query} and deliveries${query} name mode`, async () => {
      for (const path of ['webhooks', 'deliveries']) {
        const answer = await visitor.browser.call('GET', `/console/workspaces/${workspace.slug}/${path}${query}`)
        expectNamed(expectError(answer, INVALID).details, 'mode')
      }
    })
  }

  for (const query of ['?before=', '?before=x', '?before=aud_x', '?before=a&before=b', '?before=%00', '?before=acc_']) {
    test(`the error for audit${query} names before`, async () => {
      const answer = await visitor.browser.call('GET', `/console/workspaces/${workspace.slug}/audit${query}`)
      expectNamed(expectError(answer, INVALID).details, 'before')
    })
  }

  test('a malformed slug or id is 404', async () => {
    for (const slug of [
      '%00',
      'A',
      'a%2Fb',
      '..%2f',
      '%20',
      'a'.repeat(65),
      'x'.repeat(700),
      '%F0%9F%8D%9C',
      '__proto__',
    ]) {
      for (const path of ['members', 'invitations', 'audit', 'agents?mode=test', 'connections', 'webhooks?mode=test']) {
        await visitor.browser.refuse('GET', `/console/workspaces/${slug}/${path}`, { type: 'not_found' })
      }
    }
    for (const id of ['%00', 'usr_', 'x', visitor.userId.toLowerCase(), `${visitor.userId}x`]) {
      for (const [method, body] of [
        ['PATCH', { role: 'viewer' }],
        ['DELETE', undefined],
      ] as const) {
        const path = `/console/workspaces/${workspace.slug}/members/${id}`
        await visitor.browser.refuse(method, path, { type: 'not_found', code: 'member_not_found' }, body)
      }
    }
  })

  test('no response repeats values of the request', async () => {
    const canary = 'canary'.repeat(50)
    for (const [endpoint, whole] of ENDPOINTS) {
      const sent = Object.fromEntries(Object.keys(whole).map((member) => [member, canary]))
      const { text } = await callAs(endpoint)({ ...sent, canary })
      assert.ok(!text.includes('canary'), text)
    }
  })

  async function expectInvalid(endpoint: string, body: object, member: string): Promise<void> {
    expectNamed(expectError(await callAs(endpoint)(body), INVALID).details, member)
  }

  /** Returns a function that calls the endpoint, each time from a new address, so that no rate limit is reached. */
  function callAs(endpoint: string) {
    const [method = '', pattern = ''] = endpoint.split(' ')
    return async (body: unknown, headers: readonly string[] = []) => {
      // Some of these requests end a session, so each request is sent from a new browser.
      const browser = new Browser(server)
      if (!pattern.endsWith('sign-out')) browser.cookies.set('session', String(visitor.browser.cookies.get('session')))
      browser.cookies.set('ceremony', 'svc_cer_x')
      const path = pattern.replace('SLUG', workspace.slug).replace('USER', visitor.userId)
      return await browser.call(method, path, body, ['origin', server.config.authUrl, ...headers])
    }
  }

  async function countRows(): Promise<readonly unknown[]> {
    const tables = ['users', 'passkeys', 'ceremonies', 'sessions', 'workspaces', 'members', 'invitations', 'agents']
    const more = ['audit_entries', 'recovery_codes', 'webhook_endpoints', 'deliveries', 'events']
    const counts = [...tables, ...more].map((table) => `(select count(*) from ${table}) ${table}`)
    return await readRows(server.context.db, `select ${counts.join(', ')}`)
  }
})

/** Checks that an issue of the error names the field, or a field inside it. */
function expectNamed(details: unknown, member: string): void {
  assert.ok(Array.isArray(details), 'the issues are listed')
  const paths = (details as { path: string }[]).map(({ path }) => path)
  assert.ok(
    paths.some((path) => path === member || path.startsWith(`${member}.`)),
    `${paths.join(', ')} name ${member}`,
  )
}

function registration(): Record<string, unknown> {
  return { ...credential(), response: { clientDataJSON: 'AA', attestationObject: 'AA' } }
}

function assertion(): Record<string, unknown> {
  const response = { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' }
  return { ...credential(), response }
}

function credential(): Record<string, unknown> {
  return { id: 'AA', rawId: 'AA', type: 'public-key' }
}

/** Returns the paths of all required fields in a passkey's response. */
function members(response: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(response).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? [[name], ...Object.keys(value).map((inner) => [name, inner])]
      : [[name]],
  )
}

function withMember(
  response: Readonly<Record<string, unknown>>,
  [outer = '', inner]: readonly string[],
  value: unknown,
) {
  if (inner === undefined) return { ...response, [outer]: value }
  return { ...response, [outer]: { ...(response[outer] as object), [inner]: value } }
}
