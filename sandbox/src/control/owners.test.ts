import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Browser } from '../../../test/console/browser.ts'
import { signUp } from '../../../test/console/person.ts'
import { createClient, textAt, type Client } from '../demo/http-client.ts'
import type { ThrowAwaySandbox } from '../throw-away-sandbox.ts'
import { openControlSandbox } from '../../../test/support/sandbox/control-sandbox.ts'

describe('a workspace that was created in the dashboard', () => {
  let sandbox: ThrowAwaySandbox
  let control: Client
  before(async () => {
    sandbox = await openControlSandbox()
    control = createClient(sandbox.facts.control_url)
  })

  it('has an owner whose passkey the sandbox does not have, so creating a wallet is 409 with a message', async () => {
    const { auth_url: authUrl } = sandbox.facts
    const browser = new Browser({ url: authUrl, config: { authUrl } })
    const relyingParty = { id: new URL(authUrl).hostname, origin: authUrl }
    await signUp({ context: { relyingParty } }, browser)
    const made = await browser.ask<{ workspace: { slug: string } }>('POST', '/console/workspaces', { name: 'Own' }, 201)
    const answer = await control.post(`/workspaces/${made.workspace.slug}/wallets`, { mode: 'test' })
    assert.equal(answer.status, 409, JSON.stringify(answer.body))
    assert.match(textAt(answer.body, 'error.message'), /passkey.*dashboard/)
  })
})
