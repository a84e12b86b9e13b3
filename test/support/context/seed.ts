import { randomBytes } from 'node:crypto'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { createEmptyWorkspace } from '../../../server/src/domain/workspaces/create-empty-workspace.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import type { Grant } from '../../../server/src/domain/grants/grant.ts'
import { insertGrant, markActive } from '../../../server/src/domain/grants/grants-store.ts'
import { issueKey } from '../../../server/src/domain/keys/issue-key.ts'
import type { Plan } from '../../../server/src/domain/plans/plan.ts'
import type { PaymentRequest } from '../../../server/src/domain/payment-requests/payment-request.ts'
import { slotSealContext } from '../../../server/src/domain/wallets/slot-seal-context.ts'
import { insertSlots, listSlots } from '../../../server/src/domain/wallets/slots-store.ts'
import { insertWallet } from '../../../server/src/domain/wallets/wallets-store.ts'
import { generateSignerKey } from '../../../server/src/enclave/privy/signer-key.ts'
import { parseAddress, type Address } from '../../../server/src/values/address.ts'
import { parseAgentId, type AgentId } from '../../../server/src/values/agent-id.ts'
import { createId } from '../../../server/src/values/ids.ts'
import type { Mode } from '../../../server/src/values/mode.ts'
import { microUsdc, parseAmount, type MicroUsdc } from '../../../server/src/values/money.ts'
import { readRows } from '../database/read-rows.ts'

export const RECIPIENT = address('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')

export interface Seed {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly grant: Grant
  /** The API key itself, as a caller sends it. */
  readonly key: string
}

export interface SeedOptions {
  readonly mode?: Mode
  readonly plan?: Plan
  readonly maxPerTx?: string
  readonly dailyCap?: string
  readonly x402?: boolean
  readonly recipients?: readonly Address[]
  readonly contracts?: readonly Address[]
  readonly expiresAt?: Date | null
  /** The address of the wallet. By default, a random one. */
  readonly wallet?: Address
}

/**
 * Inserts a workspace with a key, an agent, a wallet and an active grant, as if the wallet's owner had signed the
 * grant.
 */
export async function seed(ctx: Context, options: SeedOptions = {}): Promise<Seed> {
  const { mode = 'test', plan = 'developer' } = options
  const workspace = await createEmptyWorkspace(ctx, {
    name: `Seed ${randomBytes(4).toString('hex')}`,
    plan,
    actor: OPERATOR,
  })
  const { secret } = await issueKey(ctx, { workspaceId: workspace.id, mode, actor: OPERATOR })
  const agentId = agent(`agent-${randomBytes(4).toString('hex')}`)
  await createAgent(ctx, { workspaceId: workspace.id, mode, id: agentId, actor: OPERATOR })
  const wallet = await seedWallet(ctx, { workspace, mode }, options.wallet)
  const grant = await seedGrant(ctx, { workspace, mode, agentId, wallet }, options)
  return { workspace, mode, agentId, wallet, grant, key: secret }
}

export async function seedWallet(
  ctx: Context,
  { workspace, mode }: Pick<Seed, 'workspace' | 'mode'>,
  wallet = address(`0x${randomBytes(20).toString('hex')}`),
): Promise<Address> {
  const row = {
    workspaceId: workspace.id,
    mode,
    address: wallet,
    name: 'Seeded',
    enclaveWalletId: randomBytes(12).toString('hex'),
    enclaveOwnersId: 'owners',
    createdAt: ctx.clock.now(),
  }
  await ctx.db.write(insertWallet(row))
  return wallet
}

/** Adds `count` active grants to the agent of a seed, each on a new wallet. Runs only three statements in all. */
export async function seedManyGrants(ctx: Context, { workspace, wallet, grant }: Seed, count: number): Promise<void> {
  const numbered = `lateral (select md5($2) || lpad(to_hex(n), 8, '0') as tail from generate_series(1, $3::int) n) t`
  await readRows(
    ctx.db,
    `insert into wallets select (jsonb_populate_record(w, jsonb_build_object(
          'address', '0x' || tail, 'enclave_wallet_id', tail))).*
      from wallets w, ${numbered} where workspace_id = $1 and address = $4`,
    [workspace.id, grant.id, count, wallet],
  )
  await readRows(
    ctx.db,
    `insert into wallet_slots select (jsonb_populate_record(s, jsonb_build_object(
        'wallet_address', '0x' || tail, 'enclave_policy_id', tail, 'signer_id', tail))).*
      from wallet_slots s, ${numbered} where workspace_id = $1 and wallet_address = $4 and slot = $5`,
    [workspace.id, grant.id, count, wallet, grant.slot],
  )
  await readRows(
    ctx.db,
    `insert into grants select (jsonb_populate_record(g, jsonb_build_object(
        'id', g.id || '-' || tail, 'wallet_address', '0x' || tail))).*
      from grants g, ${numbered} where workspace_id = $1 and id = $2`,
    [workspace.id, grant.id, count],
  )
}

export async function seedGrant(
  ctx: Context,
  { workspace, mode, agentId, wallet }: Pick<Seed, 'workspace' | 'mode' | 'agentId' | 'wallet'>,
  options: SeedOptions = {},
): Promise<Grant> {
  const slot = await seedSlot(ctx, { workspace, mode, wallet })
  const grant: Grant = {
    id: createId('grant', ctx.clock.now()),
    workspaceId: workspace.id,
    mode,
    agentId,
    walletAddress: wallet,
    maxPerTxMicro: amount(options.maxPerTx ?? '10'),
    dailyCapMicro: amount(options.dailyCap ?? '100'),
    recipientAllowlist: options.recipients ?? [],
    contractAllowlist: options.contracts ?? [ctx.chains[mode].usdc],
    expiresAt: options.expiresAt ?? null,
    x402: options.x402 ?? false,
    status: 'pending',
    slot,
    signingRequest: null,
    createdAt: ctx.clock.now(),
    activatedAt: null,
    suspendedAt: null,
    revokedAt: null,
    replaces: null,
    replacedBy: null,
    activatedBy: null,
    createdBy: null,
  }
  await ctx.db.write(insertGrant(grant))
  const active = await ctx.db.write(markActive(workspace.id, grant.id, ctx.clock.now()))
  if (active === null) throw new Error('the grant was not activated')
  return active
}

/** Adds the wallet's next slot. A seeded wallet has one slot for each of its grants. */
async function seedSlot(
  ctx: Context,
  { workspace, mode, wallet }: Pick<Seed, 'workspace' | 'mode' | 'wallet'>,
): Promise<number> {
  const place = { workspaceId: workspace.id, mode, address: wallet }
  const slot = (await ctx.db.read(listSlots(place))).length + 1
  const context = slotSealContext({ workspaceId: workspace.id, mode, walletAddress: wallet }, slot)
  const privateKeySealed = ctx.sealer.seal(generateSignerKey().privateKey, context)
  const [enclaveRulesId, signerId] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')]
  await ctx.db.write(insertSlots(place, [{ slot, enclaveRulesId, signerId, privateKeySealed }]))
  return slot
}

/** Builds a request of the seeded agent to pay from the seeded wallet. */
export function paymentRequest(
  seeded: Seed,
  changes: Partial<PaymentRequest> & { amountUsdc?: string } = {},
): PaymentRequest {
  const amountUsdc = changes.amountUsdc ?? '1'
  return {
    workspaceId: seeded.workspace.id,
    mode: seeded.mode,
    agentId: seeded.agentId,
    wallet: seeded.wallet,
    to: RECIPIENT,
    memo: null,
    idempotencyKey: null,
    credentialId: null,
    boundAgentId: null,
    requestId: null,
    ...changes,
    amountUsdc,
    amountMicro: amount(amountUsdc),
  }
}

export function address(text: string): Address {
  const parsed = parseAddress(text)
  if (parsed === null) throw new Error(`${text} is not an address`)
  return parsed
}

export function agent(text: string): AgentId {
  const parsed = parseAgentId(text)
  if (parsed === null) throw new Error(`${text} is not an agent id`)
  return parsed
}

function amount(text: string): MicroUsdc {
  return parseAmount(text) ?? microUsdc(0n)
}
