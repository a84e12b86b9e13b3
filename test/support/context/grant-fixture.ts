import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { SoftwarePasskey } from '../../../sandbox/src/software-passkey.ts'
import { createAccount } from '../../../server/src/domain/accounts/create-account.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { OPERATOR, type Actor } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import type { GrantTerms } from '../../../server/src/domain/grants/check-policy.ts'
import { getGrant } from '../../../server/src/domain/grants/queries.ts'
import type { Grant, GrantChange } from '../../../server/src/domain/grants/grant.ts'
import { issueSigningRequest } from '../../../server/src/domain/grants/issue-signing-request.ts'
import { openGrant } from '../../../server/src/domain/grants/open-grant.ts'
import { openReplacement } from '../../../server/src/domain/grants/open-replacement.ts'
import { submitSignature } from '../../../server/src/domain/grants/submit-signature.ts'
import { createWallet } from '../../../server/src/domain/wallets/create-wallet.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import type { AgentId } from '../../../server/src/values/agent-id.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { justProved, makePasskey, seedOwner } from './people.ts'
import { readRows } from '../database/read-rows.ts'
import { agent } from './seed.ts'

/** A workspace with an agent and a wallet, and the passkey that owns the wallet and signs every grant. */
export interface Owned {
  readonly accountId: string
  readonly mode: 'test'
  readonly agentId: AgentId
  readonly wallet: Wallet
  readonly owner: SoftwarePasskey
  readonly actor: Extract<Actor, { kind: 'user' | 'key' | 'client' }>
}

/**
 * Creates a workspace with an owner, a wallet of the owner's passkey, and an agent. Requires an enclave that stores
 * wallets and policies, such as the sandbox's.
 */
export async function openOwned(ctx: Context): Promise<Owned> {
  const account = await createAccount(ctx, { name: 'Grants', plan: 'developer', actor: OPERATOR })
  const { userId } = await seedOwner(ctx, account)
  const actor = { kind: 'user', id: userId } as const
  const owner = makePasskey(ctx, randomBytes(32).toString('base64url'))
  const place = { accountId: account.id, mode: 'test' } as const
  const wallet = await createWallet(ctx, { ...place, name: 'Treasury', owner, actor: { ...actor, ...justProved(ctx) } })
  const agentId = agent('payer')
  await createAgent(ctx, { ...place, id: agentId, actor })
  return { ...place, agentId, wallet, owner, actor }
}

/** Makes the terms of a grant. `maxPerTx` is in whole USDC. */
export function makeTerms(maxPerTx = 1, change: Partial<GrantTerms> = {}): GrantTerms {
  return {
    maxPerTxMicro: microUsdc(BigInt(maxPerTx) * 1_000_000n),
    dailyCapMicro: microUsdc(100_000_000n),
    recipientAllowlist: [],
    expiresAt: null,
    ...change,
  }
}

/** Opens a grant that waits for its signature. */
export function openPending(ctx: Context, owned: Owned, terms: GrantTerms = makeTerms()): Promise<Grant> {
  const { accountId, mode, agentId, wallet, actor } = owned
  return openGrant(ctx, { accountId, mode, agentId, wallet: wallet.address, ...terms, actor })
}

export async function openActive(ctx: Context, owned: Owned, terms: GrantTerms = makeTerms()): Promise<Grant> {
  const { id } = await openPending(ctx, owned, terms)
  return await signChange(ctx, owned, { grantId: id, change: 'activate' })
}

export interface GrantPair {
  readonly owned: Owned
  readonly old: Grant
  /** Is to replace the old grant once it is signed. */
  readonly next: Grant
}

/** Creates an active grant of 1 USDC per payment, and one of 2 USDC that is to replace it. */
export async function openPair(ctx: Context): Promise<GrantPair> {
  const owned = await openOwned(ctx)
  const old = await openActive(ctx, owned)
  return { owned, old, next: await openNext(ctx, owned, old) }
}

export function openNext(
  ctx: Context,
  { accountId, actor }: Owned,
  { id: grantId }: Pick<Grant, 'id'>,
  terms: GrantTerms = makeTerms(2),
): Promise<Grant> {
  return openReplacement(ctx, { accountId, grantId, terms, actor })
}

/** Signs a change that requires the wallet owner's signature. */
export async function signChange(
  ctx: Context,
  { accountId, owner, actor }: Owned,
  { grantId, change }: { grantId: string; change: GrantChange },
): Promise<Grant> {
  const request = await issueSigningRequest(ctx, { accountId, grantId, change, actor })
  assert.ok(request.challenge !== null, 'there is something to sign')
  return await submitSignature(ctx, { accountId, grantId, assertion: owner.assert(request.challenge), actor })
}

/** Signs a change, and lets the service crash after the enclave's response, before it has recorded it. */
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

/** Applies a change that requires no signature, because the enclave already is in the wanted state. */
export async function changeUnsigned(
  ctx: Context,
  { accountId, actor }: Owned,
  { grantId, change }: { grantId: string; change: GrantChange },
): Promise<Grant> {
  const request = await issueSigningRequest(ctx, { accountId, grantId, change, actor })
  assert.equal(request.challenge, null, 'there is nothing to sign')
  return request.grant
}

/** Lists the policies that the enclave enforces for signers on the wallet. */
export async function listEnforced(ctx: Context, { wallet }: Owned): Promise<string[]> {
  const { signers } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  return signers.flatMap(({ policyIds }) => [...policyIds])
}

/** Returns each grant's status and its replacement. */
export async function readFates(
  ctx: Context,
  { accountId }: Owned,
  grants: readonly Pick<Grant, 'id'>[],
): Promise<(readonly [Grant['status'], string | null])[]> {
  const read = await Promise.all(grants.map(({ id }) => getGrant(ctx, { accountId, grantId: id })))
  return read.map(({ status, replacedBy }) => [status, replacedBy] as const)
}

/** Returns the type and grant of each event, in the listed order. */
export async function listGrantEvents(ctx: Context, { accountId }: Owned): Promise<unknown[]> {
  const text = "select type, data->'grant'->>'id' as grant_id from events where account_id = $1 order by id"
  const rows = await readRows(ctx.db, text, [accountId])
  return rows.map((row) => [row['type'], row['grant_id']])
}
