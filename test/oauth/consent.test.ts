import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RECENT_PROOF_MS } from '../../server/src/domain/require-recent-proof.ts'
import { seed } from '../support/context/seed.ts'
import { seedOwner, signUpPerson } from '../support/context/people.ts'
import { readRows } from '../support/database/read-rows.ts'
import {
  AUTH_URL,
  challengeOf,
  expectPage,
  FORM_TYPE,
  handleOf,
  locationOf,
  openOauthServer,
  readTokens,
  REDIRECT_URI,
  SAME_ORIGIN,
  type Changes,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'

/** These tests cover what can be tested over HTTP. The tests in a browser cover the rest of the consent page. */
describe('the consent form', () => {
  let given: OauthServer
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer()
    client = await given.register()
  })
  after(() => given.close())

  test('an approval redirects the browser (303) with code, state and iss, each once', async () => {
    const answer = await given.consent(await given.openRequest(client, { state: 'a+b/c=d' }))
    const location = locationOf(answer, 303)
    assert.match(
      location,
      /^http:\/\/127\.0\.0\.1:33418\/callback\?code=svc_oac_[0-9A-Za-z]{49}&state=a%2Bb%2Fc%3Dd&iss=/,
    )
    const { code, ...rest } = Object.fromEntries(new URL(location).searchParams)
    assert.ok(code !== undefined)
    assert.deepEqual(rest, { state: 'a+b/c=d', iss: AUTH_URL })
    assert.equal([...new URL(location).searchParams].length, 3)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['referrer-policy'], 'same-origin')
  })

  test('a denial redirects the browser with access_denied, state and iss', async () => {
    const answer = await given.consent(await given.openRequest(client), {
      decision: 'deny',
      workspace: null,
      mode: null,
      agent_id: null,
    })
    assert.equal(
      locationOf(answer, 303),
      `${REDIRECT_URI}?error=access_denied&state=state-1&iss=${encodeURIComponent(AUTH_URL)}`,
    )
  })

  test('the state is returned byte for byte', async () => {
    const states = [
      '+/=',
      '%',
      '&',
      '#',
      ';',
      ' ',
      'a b',
      '%2B%20',
      '+',
      '🍜é',
      '"<\\>',
      `'`,
      'x'.repeat(2_000),
      'AAAA+/==&state=evil&code=evil',
    ]
    for (const state of states) {
      const location = locationOf(await given.consent(await given.openRequest(client, { state })), 303)
      assert.deepEqual(new URL(location).searchParams.getAll('state'), [state])
    }
  })

  test('the redirect keeps the redirect URI’s own query', async () => {
    const redirect_uri = 'https://app.example/cb?tenant=1'
    const other = await given.register({ redirect_uris: [redirect_uri] })
    const location = locationOf(await given.consent(await given.openRequest(other)), 303)
    assert.ok(location.startsWith(`${redirect_uri}&code=`), location)
  })

  test('a form that was not sent by our own page is 403, and decides nothing', async () => {
    const handle = await given.openRequest(client)
    const strange: readonly (readonly string[])[] = [
      [],
      ['origin', 'https://evil.example'],
      ['origin', 'null'],
      ['origin', `${AUTH_URL}.evil.example`],
      ['origin', AUTH_URL, 'sec-fetch-site', 'cross-site'],
      ['origin', AUTH_URL, 'sec-fetch-site', 'same-site'],
      ['origin', AUTH_URL, 'sec-fetch-site', 'none'],
      ['origin', 'https://evil.example', 'sec-fetch-site', 'same-origin'],
    ]
    for (const headers of strange) {
      expectPage(await given.consent(handle, {}, { headers }), { status: 403, error: 'cross_origin' })
    }
    locationOf(await given.consent(handle, {}, { headers: ['sec-fetch-site', 'same-origin'] }), 303)
  })

  test('a user who is not signed in is sent to the sign-in, and then back to the same request', async () => {
    const handle = await given.openRequest(client)
    for (const secret of ['', 'nobody', `svc_ses_${'0'.repeat(49)}`]) {
      const answer = await given.consent(handle, {}, { person: { secret } })
      assert.equal(locationOf(answer, 303), `/sign-in?next=%2Fconsent%3Frequest%3D${handle}`)
    }
    locationOf(await given.consent(handle), 303)
  })

  test('a second decision is 409, whatever the two decisions are, and there is only one code', async () => {
    const codesBefore = await countCodes()
    for (const [first, second] of [
      ['approve', 'approve'],
      ['approve', 'deny'],
      ['deny', 'approve'],
    ] as const) {
      const handle = await given.openRequest(client)
      locationOf(await given.consent(handle, { decision: first }), 303)
      expectPage(await given.consent(handle, { decision: second }), {
        status: 409,
        error: 'authorization_request_decided',
      })
    }
    assert.equal((await countCodes()) - codesBefore, 2)
  })

  test('of ten clicks at once, one is accepted', async () => {
    const handle = await given.openRequest(client)
    const answers = await Promise.all(Array.from({ length: 10 }, () => given.consent(handle)))
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length
    assert.deepEqual([count(303), count(409)], [1, 9])
  })

  const faults: readonly (readonly [string, Changes, number, string])[] = [
    ['no handle', { request: null }, 400, 'invalid_request'],
    ['an unknown handle', { request: `svc_oar_${'0'.repeat(49)}` }, 404, 'authorization_request_not_found'],
    ['a malformed handle', { request: '../x' }, 404, 'authorization_request_not_found'],
    ['two handles', { request: ['a', 'b'] }, 400, 'invalid_request'],
    ['no decision', { decision: null }, 400, 'invalid_request'],
    ['another decision', { decision: 'yes' }, 400, 'validation_failed'],
    ['no workspace', { workspace: null }, 400, 'invalid_request'],
    ['an unknown workspace', { workspace: 'nobodys' }, 404, 'not_found'],
    ['no mode', { mode: null }, 400, 'invalid_request'],
    ['another mode', { mode: 'production' }, 400, 'validation_failed'],
    ['no agent', { agent_id: null }, 400, 'invalid_request'],
    ['an agent id that is not allowed', { agent_id: '.' }, 400, 'validation_failed'],
    ['an unknown agent', { agent_id: 'nobody' }, 404, 'agent_not_found'],
    ['an agent of the other mode', { mode: 'live' }, 404, 'agent_not_found'],
    ['a scope that was not requested', { scope: 'wallet:read wallet:transfer' }, 400, 'validation_failed'],
    ['no scope chosen', { scope: '' }, 400, 'validation_failed'],
    ['an unknown scope', { scope: 'openid' }, 400, 'validation_failed'],
  ]
  for (const [name, changes, status, error] of faults) {
    test(`with ${name}, the response is ${status} ${error}, and the request stays open`, async () => {
      const handle = await given.openRequest(client)
      expectPage(await given.consent(handle, changes), { status, error })
      locationOf(await given.consent(handle), 303)
    })
  }

  test('approving for a workspace of others, or as a viewer, is rejected', async () => {
    const handle = await given.openRequest(client)
    const others = await seed(given.context)
    const viewer = await seedOwner(given.context, given.seeded.workspace, 'viewer')
    const stranger = await signUpPerson(given.context)
    const changes = { workspace: others.workspace.slug, agent_id: others.agentId }
    expectPage(await given.consent(handle, changes), { status: 404, error: 'not_found' })
    expectPage(await given.consent(handle, { agent_id: others.agentId }), { status: 404, error: 'agent_not_found' })
    expectPage(await given.consent(handle, {}, { person: stranger }), { status: 404, error: 'not_found' })
    expectPage(await given.consent(handle, {}, { person: viewer }), { status: 403, error: 'role_insufficient' })
    const admin = await seedOwner(given.context, given.seeded.workspace, 'admin')
    locationOf(await given.consent(handle, {}, { person: admin }), 303)
  })

  test('an approval requires a proof of the last ten minutes, in both modes; a denial requires none', async () => {
    const person = await seedOwner(given.context, given.seeded.workspace)
    const tenMinutesAgo = new Date(given.clock.now().getTime() - RECENT_PROOF_MS)
    const sql = 'update sessions set verified_at = $1 where user_id = $2'
    await readRows(given.context.db, sql, [tenMinutesAgo, person.userId])
    const handle = await given.openRequest(client)
    for (const mode of ['test', 'live']) {
      expectPage(await given.consent(handle, { mode }, { person }), { status: 403, error: 'verification_required' })
    }
    const denied = await given.consent(handle, { decision: 'deny' }, { person })
    assert.equal(new URL(locationOf(denied, 303)).searchParams.get('error'), 'access_denied')
  })

  test('client, redirect URI, challenge and state in the form are ignored', async () => {
    const handle = await given.openRequest(client)
    const changes = { client_id: 'evil', redirect_uri: 'https://evil.example', code_challenge: 'x', state: 'evil' }
    const location = locationOf(await given.consent(handle, changes), 303)
    assert.ok(location.startsWith(`${REDIRECT_URI}?code=`))
    assert.equal(new URL(location).searchParams.get('state'), 'state-1')
  })

  test('a person may grant fewer scopes than requested, and the token response lists them', async () => {
    const verifier = 'v'.repeat(43)
    const scope = 'wallet:read wallet:transfer x402:pay'
    const handle = await given.openRequest(client, { scope, code_challenge: challengeOf(verifier) })
    const location = locationOf(await given.consent(handle, { scope: 'x402:pay wallet:read' }), 303)
    const code = String(new URL(location).searchParams.get('code'))
    const tokens = readTokens(await given.exchange({ client, code, verifier, redirectUri: REDIRECT_URI }))
    assert.equal(tokens.scope, 'wallet:read x402:pay')
  })

  test('a request that is older than ten minutes is not found', async () => {
    const handle = await given.openRequest(client)
    given.service.clock.setOffset(10 * 60_000)
    try {
      expectPage(await given.consent(handle), { status: 404, error: 'authorization_request_not_found' })
    } finally {
      given.service.clock.setOffset(0)
    }
  })

  test('the decision must be posted, as a form', async () => {
    const handle = await given.openRequest(client)
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await given.ask({
        method,
        path: `/oauth/consent?request=${handle}&decision=approve`,
        person: given.owner,
      })
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
    const json = { body: { request: handle, decision: 'deny' }, type: 'application/json' }
    const none = { method: 'POST' }
    for (const call of [json, none, { body: '', type: FORM_TYPE }, { body: 'request=%ff', type: FORM_TYPE }]) {
      const answer = await given.ask({ path: '/oauth/consent', headers: SAME_ORIGIN, person: given.owner, ...call })
      assert.ok([400, 415].includes(answer.status), String(answer.status))
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    }
    handleOf(await given.authorize(client))
    locationOf(await given.consent(handle), 303)
  })

  async function countCodes(): Promise<number> {
    const [row] = await readRows(given.context.db, 'select count(*) as rows from authorization_codes')
    return Number(row?.['rows'])
  }
})
