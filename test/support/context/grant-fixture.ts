import assert from 'node:assert/strict'
import type { SoftwarePasskey } from '../../../sandbox/src/software-passkey.ts'
import { createEmptyWorkspace } from '../../../server/src/domain/workspaces/create-empty-workspace.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { OPERATOR, type Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import type { GrantTerms } from '../../../server/src/domain/grants/check-policy.ts'
import { getGrant } from '../../../server/src/domain/grants/queries.ts'
import type { Grant, GrantChange } from '../../../server/src/domain/grants/grant.ts'
import { issueSigningRequest } from '../../../server/src/domain/grants/issue-signing-request.ts'
import { openGrant } from '../../../server/src/domain/grants/open-grant.ts'
import { grantIdOf } from '../../../server/src/domain/grants/rule-name.ts'
import { openReplacement } from '../../../server/src/domain/grants/open-replacement.ts'
import { submitSignature } from '../../../server/src/domain/grants/submit-signature.ts'
import { createWallet } from '../../../server/src/domain/wallets/create-wallet.ts'
import { findSlot, listSlots } from '../../../server/src/domain/wallets/slots-store.ts'
import type { Wallet, WalletSlot } from '../../../server/src/domain/wallets/wallet.ts'
import type { AgentId } from '../../../server/src/values/agent-id.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { addWalletOwner, justProved, seedOwner } from './people.ts'
import { readRows } from '../database/read-rows.ts'
import { agent } from './seed.ts'

/** A workspace with an agent and a wallet, and the wallet passkey that owns the wallet and signs every grant. */
export interface Owned {
  readonly workspaceId: string
  readonly mode: 'test'
  readonly agentId: AgentId
  readonly wallet: Wallet
  readonly owner: SoftwarePasskey
  readonly actor: Extract<Actor, { kind: 'user' | 'key' | 'client' }>
}

/**
 * Creates a workspace with an owner, a wallet of the owner's wallet passkey, and an agent. Requires an enclave that
 * stores wallets and policies, such as the sandbox's.
 */
export async function openOwned(ctx: Context): Promise<Owned> {
  const workspace = await createEmptyWorkspace(ctx, { name: 'Grants', plan: 'developer', actor: OPERATOR })
  const { userId } = await seedOwner(ctx, workspace)
  const actor = { kind: 'user', id: userId } as const
  const owner = await addWalletOwner(ctx, userId)
  const place = { workspaceId: workspace.id, mode: 'test' } as const
  const { credentialId } = owner
  const wallet = await createWallet(ctx, {
    ...place,
    name: 'Treasury',
    credentialId,
    actor: { ...actor, ...justProved(ctx) },
  })
  const agentId = agent('payer')
  await createAgent(ctx, { ...place, id: agentId, actor })
  return { ...place, agentId, wallet, owner, actor }
}

/** Makes the terms of a grant. `maxPerTx` is in USDC. */
export function makeTerms(maxPerTx = 1, change: Partial<GrantTerms> = {}): GrantTerms {
  return {
    maxPerTxMicro: microUsdc(BigInt(maxPerTx) * 1_000_000n),
    dailyCapMicro: microUsdc(100_000_000n),
    recipientAllowlist: [],
    expiresAt: null,
    ...change,
  }
}

/** Opens a grant, and leaves it pending, without the owner's signature. */
export function openPending(ctx: Context, owned: Owned, terms: GrantTerms = makeTerms()): Promise<Grant> {
  const { workspaceId, mode, agentId, wallet, actor } = owned
  return openGrant(ctx, { workspaceId, mode, agentId, wallet: wallet.address, ...terms, actor })
}

export async function openActive(ctx: Context, owned: Owned, terms: GrantTerms = makeTerms()): Promise<Grant> {
  const { id } = await openPending(ctx, owned, terms)
  return await signChange(ctx, owned, { grantId: id, change: 'activate' })
}

export interface GrantPair {
  readonly owned: Owned
  readonly old: Grant
  /** The grant that replaces the old one once it is signed. */
  readonly next: Grant
}

/** Creates two grants: an active one of 1 USDC per payment, and a pending one of 2 USDC that is to replace it. */
export async function openPair(ctx: Context): Promise<GrantPair> {
  const owned = await openOwned(ctx)
  const old = await openActive(ctx, owned)
  return { owned, old, next: await openNext(ctx, owned, old) }
}

export function openNext(
  ctx: Context,
  { workspaceId, actor }: Owned,
  { id: grantId }: Pick<Grant, 'id'>,
  terms: GrantTerms = makeTerms(2),
): Promise<Grant> {
  return openReplacement(ctx, { workspaceId, grantId, terms, actor })
}

/** Changes a grant in a way that requires the wallet owner's signature, and signs the change. */
export async function signChange(
  ctx: Context,
  { workspaceId, owner, actor }: Owned,
  { grantId, change }: { grantId: string; change: GrantChange },
): Promise<Grant> {
  const { request } = await issueSigningRequest(ctx, { workspaceId, grantId, change, actor })
  assert.ok(request !== null, 'there is something to sign')
  return await submitSignature(ctx, { workspaceId, grantId, assertion: owner.assert(request.payload), actor })
}

/**
 * Signs a change, and lets the service crash after the enclave's response and before the service has recorded the
 * change.
 */
export async function signAndCrash(
  ctx: Context,
  owned: Owned,
  asked: { grantId: string; change: GrantChange },
): Promise<void> {
  const action = asked.change === 'activate' ? 'grant.activated' : 'grant.revoked'
  await readRows(ctx.db, `alter table audit_entries add constraint broken check (action <> '${action}') not valid`)
  try {
    await assert.rejects(signChange(ctx, owned, asked), /broken/)
  } finally {
    await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
  }
}

/** Changes a grant in a way that requires no signature, because the enclave is already in the wanted state. */
export async function changeUnsigned(
  ctx: Context,
  { workspaceId, actor }: Owned,
  { grantId, change }: { grantId: string; change: GrantChange },
): Promise<Grant> {
  const { grant, request } = await issueSigningRequest(ctx, { workspaceId, grantId, change, actor })
  assert.equal(request, null, 'there is nothing to sign')
  return grant
}

/** Lists the grants whose rules the enclave enforces on the wallet, in the order of their slots. */
export async function listEnforced(ctx: Context, { wallet }: Owned): Promise<string[]> {
  const slots = await ctx.db.read(listSlots(wallet))
  const rules = await Promise.all(slots.map((slot) => ctx.enclave.readRules(slot)))
  return rules.flat().map(({ name }) => grantIdOf(name))
}

/** Returns the slot that a grant uses. */
export async function getSlot(ctx: Context, { wallet }: Owned, { slot }: Pick<Grant, 'slot'>): Promise<WalletSlot> {
  const found = slot === null ? null : await ctx.db.read(findSlot(wallet, slot))
  assert.ok(found !== null, 'the grant has a slot')
  return found
}

/** Returns the status of each grant, and which grant replaces it. */
export async function readFates(
  ctx: Context,
  { workspaceId }: Owned,
  grants: readonly Pick<Grant, 'id'>[],
): Promise<(readonly [Grant['status'], string | null])[]> {
  const read = await Promise.all(grants.map(({ id }) => getGrant(ctx, { workspaceId, grantId: id })))
  return read.map(({ status, replacedBy }) => [status, replacedBy] as const)
}

/** Returns the type and the grant of each event, oldest first. */
export async function listGrantEvents(ctx: Context, { workspaceId }: Owned): Promise<unknown[]> {
  const text = "select type, data->'grant'->>'id' as grant_id from events where workspace_id = $1 order by id"
  const rows = await readRows(ctx.db, text, [workspaceId])
  return rows.map((row) => [row['type'], row['grant_id']])
}
