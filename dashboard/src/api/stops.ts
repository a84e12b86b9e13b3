import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant, SigningRequest } from '@bursar/server/src/console/contract/grants.ts'
import type { Stop, StopGroup } from '@bursar/server/src/console/contract/stops.ts'
import type { Claims } from '../signer/signer-messages.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { request } from './request.ts'

/** What is stopped: one agent, the agents' payments from one wallet, or everything if both are missing. */
export interface StopScope {
  readonly agent?: string
  readonly wallet?: string
}

/** The signer page accepts at most this many names. */
const NAMES_MAX = 200

/** Suspends every grant of a scope at once. Needs no signature. */
export async function stopAgents(slug: string, mode: Mode, { agent = null, wallet = null }: Nullable<StopScope>) {
  const input = { params: { slug }, body: { mode, agent_id: agent, wallet } }
  return await request('POST /console/workspaces/:slug/stops', input)
}

type Nullable<Type> = { readonly [Name in keyof Type]: Type[Name] | null }

/** Resumes what a stop suspended, as far as the user's passkeys own the wallets. Each passkey signs once. */
export async function resumeStop(
  signer: SignerWindow,
  { slug, stop, claims }: { readonly slug: string; readonly stop: Stop; readonly claims: Claims },
): Promise<void> {
  const params = { slug, id: stop.id }
  for (const group of stop.groups.filter(({ is_mine }) => is_mine)) {
    const asked = await request('POST /console/workspaces/:slug/stops/:id/resume-request', {
      params,
      body: { credential_id: group.credential_id },
    })
    const body = await sign(signer, asked.signing_request, { ...claims, addressNames: nameWallets(group) })
    await request('POST /console/workspaces/:slug/stops/:id/resume', { params, body })
  }
}

/** Resumes one suspended grant. */
export async function resumeGrant(
  signer: SignerWindow,
  { slug, id, claims }: { readonly slug: string; readonly id: string; readonly claims: Claims },
): Promise<Grant> {
  const params = { slug, id }
  const asked = await request('POST /console/workspaces/:slug/grants/:id/resume-request', { params, body: {} })
  const body = await sign(signer, asked.signing_request, claims)
  return (await request('POST /console/workspaces/:slug/grants/:id/resume', { params, body })).grant
}

async function sign(signer: SignerWindow, { payload, credentials, expires_at }: SigningRequest, claims: Claims) {
  const response = await signer.sign({
    payload,
    credentials: credentials.map(({ id, public_key: publicKey, name }) => ({ id, publicKey, name })),
    record: null,
    claims,
  })
  return { expires_at, response }
}

function nameWallets({ wallets }: StopGroup): Readonly<Record<string, string>> {
  return Object.fromEntries(wallets.slice(0, NAMES_MAX).map(({ address, name }) => [address.toLowerCase(), name]))
}
