import assert from 'node:assert/strict'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { listEvidence } from '../../server/src/domain/evidence/list-evidence.ts'
import type { Grant } from '../../server/src/domain/grants/grant.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { walkPayments } from '../../server/src/domain/reports/listing/walk-payments.ts'
import { stopAgents } from '../../server/src/domain/stops/stop-agents.ts'
import { removeUnusedWalletPasskey } from '../../server/src/domain/wallets/remove-unused-wallet-passkey.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../../server/src/domain/wallets/signing-fence.ts'
import { makeTerms, openActive, openNext, openOwned, signChange, type Owned } from '../support/context/grant-fixture.ts'
import { changeOwners, resume, signRecord, withdrawOne } from '../support/context/owner-fixture.ts'
import { addWalletOwner, justProved } from '../support/context/people.ts'
import { RECIPIENT } from '../support/context/seed.ts'
import { call } from '../support/http-client.ts'
import type { SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { waitForRecord } from '../support/sandbox/payer-fixture.ts'
import { createResource } from '../support/sandbox/seller.ts'
import { waitFor } from '../support/wait-for.ts'

/** Payments of every kind, from one wallet. */
export interface ProvenPayments {
  readonly owned: Owned
  /** An API key of the workspace. */
  readonly key: string
  /** The id of each payment, by what is special about it. */
  readonly ids: ReadonlyMap<string, string>
}

const DAYS_30_MS = 30 * 24 * 60 * 60 * 1_000
const PRICE_USDC = '0.05'

/** Makes the payments. The enclave and the chain of the sandbox are real, and so are the signatures of the owners. */
export async function makePayments(fixture: SandboxFixture, ctx: Context): Promise<ProvenPayments> {
  const payer = await openPayer(fixture, ctx)
  const { owned, key } = payer
  const { workspaceId, mode, actor } = owned
  const ids = new Map<string, string>()

  const expiresAt = new Date(ctx.clock.now().getTime() + DAYS_30_MS)
  const first = await openActive(ctx, owned, makeTerms(5, { expiresAt, x402: true }))
  const transfer = await pay(payer, { memo: 'For “Zoë” 🎁' })
  ids.set('a transfer under a grant that was replaced', transfer)
  // The first transfer installs the wallet's code. A purchase that was signed before that is not valid afterwards.
  await waitForRecord(fixture, transfer, 'confirmed')
  ids.set('a purchase', await buy(payer))

  await suspendGrant(ctx, { workspaceId, grantId: first.id, actor })
  await resume(ctx, owned, { grantId: first.id })
  ids.set('a transfer under a grant that was resumed', await pay(payer))
  const { stop } = await stopAgents(ctx, { workspaceId, mode, agentId: null, walletAddress: null, actor })
  await resume(ctx, owned, { stopId: stop?.id ?? assert.fail() })
  ids.set('a transfer under a grant that was resumed after a stop', await pay(payer))

  const next = await replace(ctx, owned, first)
  ids.set('a transfer under a grant that replaced another', await pay(payer))
  ids.set('a withdrawal', (await withdrawOne(ctx, owned)).id)

  const second = await addOwner(ctx, owned)
  const bySecond = await replace(ctx, { ...owned, owner: second }, next)
  ids.set('a transfer under a grant of an owner who was added, and later removed', await pay(payer))
  await changeOwners(ctx, owned, { kind: 'remove_owner', credentialId: second.credentialId })
  const session = { userId: actor.id, ...justProved(ctx) }
  await removeUnusedWalletPasskey(ctx, { session, credentialId: second.credentialId })

  const third = await addOwner(ctx, owned)
  const last = await replace(ctx, { ...owned, owner: third }, bySecond)
  ids.set('a transfer just before the revocation', await pay(payer))
  await signChange(ctx, { ...owned, owner: third }, { grantId: last.id, change: 'revoke' })
  return { owned, key, ids }
}

/** Waits until all payments have ended, and moves the clock until nobody can use the signatures any more. */
export async function passFence(fixture: SandboxFixture): Promise<void> {
  await waitFor('all payments have ended', async () => {
    return (await fixture.query("select 1 from payments where status = 'pending'")).length === 0
  })
  await fixture.advanceClock((SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS) / 1_000 + 1)
  // A server that starts opens the signatures at once, and then once a minute.
  await fixture.sandbox.killServer('SIGTERM')
  await fixture.sandbox.startServer()
}

/** Returns the file of each payment, as soon as there is one. */
export async function exportFiles(
  fixture: Pick<SandboxFixture, 'baseUrl'>,
  { key, ids }: Pick<ProvenPayments, 'key' | 'ids'>,
): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const [name, id] of ids) {
    files.set(name, await waitFor(`evidence of ${name}`, async () => await exportFile(fixture, { key, id })))
  }
  return files
}

/** Returns the file of a payment. Null if it is not ready yet. */
export async function exportFile(
  { baseUrl }: Pick<SandboxFixture, 'baseUrl'>,
  { key, id }: { key: string; id: string },
): Promise<string | null> {
  const { status, text } = await call(baseUrl, 'GET', `/v1/payments/${id}/evidence`, { key })
  if (status === 409 || status === 429) return null
  assert.equal(status, 200, text)
  return text
}

/** Returns the export with the evidence of all payments. */
export async function exportAll(ctx: Context, { workspaceId, mode }: Owned): Promise<string> {
  const signal = new AbortController().signal
  const walk = await walkPayments(ctx, { workspaceId, mode, filter: {}, signal })
  const list = await listEvidence(ctx, { workspaceId, mode, payments: () => walk.next() })
  let text = ''
  for (let lines = await list.next(); lines !== null; lines = await list.next()) text += lines
  return text
}

/** A workspace that can pay. */
export interface Payer {
  readonly fixture: SandboxFixture
  readonly owned: Owned
  readonly key: string
}

/** Opens a workspace with money, whose owner has signed the wallet's record. */
export async function openPayer(fixture: SandboxFixture, ctx: Context): Promise<Payer> {
  const owned = await openOwned(ctx)
  const { workspaceId, mode, wallet, actor } = owned
  await fixture.control('/faucet', { mode, address: wallet.address, amount_usdc: '100' })
  const maker = { kind: 'user', id: actor.id, ...justProved(ctx) } as const
  const { secret: key } = await issueKey(ctx, { workspaceId, mode, actor: maker })
  await signRecord(ctx, owned)
  return { fixture, owned, key }
}

export async function pay({ fixture, owned, key }: Payer, more: { readonly memo?: string } = {}): Promise<string> {
  const { agentId, wallet } = owned
  const body = { agent_id: agentId, wallet: wallet.address, to: RECIPIENT, amount_usdc: '1', ...more }
  const { status, text } = await call(fixture.baseUrl, 'POST', '/v1/payments', { key, body })
  assert.equal(status, 201, text)
  return (JSON.parse(text) as { payment: { id: string } }).payment.id
}

async function buy({ fixture, owned, key }: Payer): Promise<string> {
  const { url } = await createResource(fixture, { price_usdc: PRICE_USDC })
  const { agentId, wallet } = owned
  const body = { url, agent_id: agentId, wallet: wallet.address, max_amount_usdc: PRICE_USDC, idempotency_key: 'buy' }
  const { text } = await call(fixture.baseUrl, 'POST', '/v1/x402/pay', { key, body })
  const { payment, delivery } = JSON.parse(text) as { payment: { id: string }; delivery: string }
  assert.equal(delivery, 'delivered', text)
  return payment.id
}

async function replace(ctx: Context, owned: Owned, old: Grant): Promise<Grant> {
  const { id: grantId } = await openNext(ctx, owned, old, makeTerms(2, { recipientAllowlist: [RECIPIENT] }))
  return await signChange(ctx, owned, { grantId, change: 'activate' })
}

/** Adds an owner, whose passkey signs the record. */
async function addOwner(ctx: Context, owned: Owned): Promise<SoftwarePasskey> {
  const added = await addWalletOwner(ctx, owned.actor.id)
  await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: added.credentialId })
  await signRecord(ctx, owned, added)
  return added
}
