import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../../sandbox/src/software-passkey.ts'
import type { AgentHost } from '../sandbox/agent-host.ts'
import type { Authenticator, Person } from './launch-browser.ts'

/**
 * What people do before a test of something else, with the requests that the dashboard's pages send. A request takes
 * much less processor time than a page.
 */

type Site = Pick<AgentHost, 'authUrl'>

interface CreationOptions {
  readonly challenge: string
  readonly user: { readonly id: string }
}

/**
 * Signs up a person. Afterwards, the person is signed in, and their authenticator has the passkey. The browser shows no
 * page yet.
 */
export async function signUpOverHttp(person: Person, name: string, { authUrl }: Site): Promise<void> {
  const post = <Body>(path: string, data: object) => postAs<Body>(person, { authUrl }, path, data)
  const { options } = await post<{ options: CreationOptions }>('/console/sign-up/options', { name })
  const { hostname: rpId } = new URL(authUrl)
  const passkey = createSoftwarePasskey({ rpId, origin: authUrl, userHandle: options.user.id })
  const response = passkey.register(Buffer.from(options.challenge, 'base64url'))
  await post('/console/sign-up', { response })
  await addPasskey(person.authenticator, passkey)
}

/**
 * Signs up a person, who then becomes an owner of the sandbox's workspace. The browser shows no page yet.
 */
export async function joinDemo(
  person: Person,
  name: string,
  { authUrl, workspace }: Pick<AgentHost, 'authUrl' | 'workspace'>,
): Promise<void> {
  await signUpOverHttp(person, name, { authUrl })
  const token = workspace.invite_url.split('/').at(-1)
  await postAs(person, { authUrl }, '/console/invitations/accept', { token })
}

/** Signs up a person, and creates a workspace for them. Returns its slug. The browser shows no page yet. */
export async function signUpOwner(person: Person, name: string, site: Site & { workspace: string }): Promise<string> {
  await signUpOverHttp(person, name, site)
  const { workspace } = await postAs<{ workspace: { slug: string } }>(person, site, '/console/workspaces', {
    name: site.workspace,
  })
  return workspace.slug
}

/** Creates an API key as a member of the workspace, and returns its secret. */
export async function createKey(
  person: Person,
  { authUrl, slug, mode, name }: Site & { slug: string; mode: 'test' | 'live'; name: string },
): Promise<string> {
  const data = { mode, name }
  return (await postAs<{ secret: string }>(person, { authUrl }, `/console/workspaces/${slug}/keys`, data)).secret
}

/** Sends a request as a page of the dashboard would. */
async function postAs<Body>({ page }: Person, { authUrl }: Site, path: string, data: object): Promise<Body> {
  const answer = await page.request.post(`${authUrl}${path}`, { data, headers: { origin: authUrl } })
  assert.ok(answer.ok(), await answer.text())
  return (await answer.json()) as Body
}

async function addPasskey({ session, id }: Authenticator, passkey: SoftwarePasskey): Promise<void> {
  const { credentialId, rpId, userHandle, privateKeyJwk, counter } = passkey.export()
  const key = createPrivateKey({ key: privateKeyJwk, format: 'jwk' }).export({ type: 'pkcs8', format: 'der' })
  await session.send('WebAuthn.addCredential', {
    authenticatorId: id,
    credential: {
      credentialId: toBase64(credentialId),
      isResidentCredential: true,
      rpId,
      privateKey: key.toString('base64'),
      userHandle: toBase64(userHandle),
      signCount: counter,
    },
  })
}

function toBase64(base64Url: string): string {
  return Buffer.from(base64Url, 'base64url').toString('base64')
}
