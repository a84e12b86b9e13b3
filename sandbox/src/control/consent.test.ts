import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fetchOnce } from '../lib/fetch-once.ts'
import { createClient, textAt, type Answer, type Client } from '../demo/http-client.ts'
import type { ThrowAwaySandbox } from '../throw-away-sandbox.ts'
import { openControlSandbox } from '../../../test/support/sandbox/control-sandbox.ts'

const REDIRECT_URI = 'http://127.0.0.1/callback'

describe('the consent call', () => {
  let sandbox: ThrowAwaySandbox
  let control: Client
  let clientId: string
  before(async () => {
    sandbox = await openControlSandbox()
    control = createClient(sandbox.facts.control_url)
    const registered = await createClient(sandbox.facts.auth_url).post('/oauth/register', {
      redirect_uris: [REDIRECT_URI],
    })
    clientId = textAt(registered.body, 'client_id')
  })
  // Other files compare the sandbox's clock with the real time.
  after(() => control.post('/clock', { reset: true }))

  it('approves as the owner: the redirect has a code, the state and the issuer', async () => {
    const { url, verifier } = authorize({})
    const { status, body } = await consent({ authorize_url: url })
    assert.equal(status, 200)
    const location = new URL(textAt(body, 'location'))
    assert.equal(location.origin + location.pathname, REDIRECT_URI)
    assert.equal(location.searchParams.get('state'), 'the state')
    assert.equal(location.searchParams.get('iss'), sandbox.facts.auth_url)
    const code = String(location.searchParams.get('code'))
    assert.match(code, /^svc_oac_/)
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: clientId }
    const tokens = await fetchOnce(`${sandbox.facts.auth_url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, redirect_uri: REDIRECT_URI }),
    })
    const { access_token: token } = (await tokens.json()) as { access_token: string }
    const me = await createClient(sandbox.facts.base_url, token).get('/v1/me')
    assert.deepEqual([textAt(me.body, 'account_slug'), textAt(me.body, 'agent_id')], ['demo', 'demo-agent'])
  })

  it('denies, and works in any workspace and in both modes', async () => {
    const made = await control.post('/workspaces', { name: 'Consenting' })
    const slug = textAt(made.body, 'workspace.slug')
    const denied = await consent({ authorize_url: authorize({}).url, approve: false }, slug)
    assert.equal(new URL(textAt(denied.body, 'location')).searchParams.get('error'), 'access_denied')
    const api = createClient(sandbox.facts.base_url, textAt(made.body, 'workspace.keys.live'))
    await api.post('/v1/agents', { id: 'a' })
    const approved = await consent({ authorize_url: authorize({}).url, mode: 'live', agent_id: 'a' }, slug)
    assert.match(textAt(approved.body, 'location'), /\?code=svc_oac_/)
  })

  it('handles many requests at once, and live mode after the owner was away for long', async () => {
    await control.post('/clock', { advance_seconds: 13 * 3_600 })
    const urls = Array.from({ length: 5 }, () => authorize({}).url)
    const answers = await Promise.all(urls.map((url) => consent({ authorize_url: url, mode: 'live' })))
    for (const { body } of answers) assert.match(textAt(body, 'location'), /\?code=svc_oac_/)
  })

  it('shows a new invitation in the facts after the clock was moved past the old one’s end', async () => {
    const { invite_url: old } = sandbox.facts.workspace
    await control.post('/clock', { advance_seconds: 31 * 86_400 })
    const told = textAt((await control.get('/')).body, 'workspace.invite_url')
    assert.notEqual(told, old)
    const file = JSON.parse(await readFile(join(sandbox.dataDir, 'sandbox.json'), 'utf8')) as typeof sandbox.facts
    assert.equal(file.workspace.invite_url, told)
  })

  it('returns the redirect if the client gets the error, and the error page if it does not', async () => {
    const told = await consent({ authorize_url: authorize({ response_type: 'token' }).url })
    assert.equal(told.status, 200)
    assert.equal(new URL(textAt(told.body, 'location')).searchParams.get('error'), 'unsupported_response_type')
    const page = await consent({ authorize_url: authorize({ redirect_uri: 'https://evil.example/cb' }).url })
    assert.equal(page.status, 400)
    assert.match(textAt(page.body, 'error.message'), /redirect_uri/)
    const nobody = await consent({ authorize_url: authorize({}).url, agent_id: 'nobody' })
    assert.equal(nobody.status, 404)
  })

  const cases: readonly (readonly [object, RegExp])[] = [
    [{ authorize_url: 'https://evil.example/oauth/authorize' }, /^authorize_url /],
    [{ authorize_url: 'nonsense' }, /^authorize_url /],
    [{ authorize_url: 1 }, /^authorize_url /],
    [{ mode: 'prod' }, /^mode /],
    [{ agent_id: undefined }, /^agent_id /],
    [{ approve: 'yes' }, /^approve /],
  ]
  for (const [change, message] of cases) {
    it(`is 400 with ${JSON.stringify(change)}`, async () => {
      const answer = await consent({ authorize_url: authorize({}).url, ...change })
      assert.equal(answer.status, 400)
      assert.match(textAt(answer.body, 'error.message'), message)
    })
  }

  it('the facts contain an invitation to the demo workspace', () => {
    const { invite_url: inviteUrl } = sandbox.facts.workspace
    assert.match(inviteUrl, new RegExp(`^${sandbox.facts.auth_url}/invite/svc_inv_[0-9A-Za-z]{49}$`))
  })

  function consent(body: object, slug = 'demo'): Promise<Answer> {
    return control.post(`/workspaces/${slug}/consent`, { mode: 'test', agent_id: 'demo-agent', ...body })
  }

  function authorize(change: Record<string, string>): { url: string; verifier: string } {
    const verifier = randomBytes(32).toString('base64url')
    const url = new URL('/oauth/authorize', sandbox.facts.auth_url)
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'the state',
      ...change,
    }).toString()
    return { url: url.href, verifier }
  }
})
