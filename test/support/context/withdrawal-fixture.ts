import type { SoftwarePasskey } from '../../../sandbox/src/software-passkey.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import type { Payment } from '../../../server/src/domain/payments/payment.ts'
import { insertOwner } from '../../../server/src/domain/wallets/wallet-owners-store.ts'
import {
  issueWithdrawalRequest,
  type IssuedWithdrawal,
} from '../../../server/src/domain/withdrawals/issue-withdrawal-request.ts'
import { submitWithdrawal } from '../../../server/src/domain/withdrawals/submit-withdrawal.ts'
import type { Address } from '../../../server/src/values/address.ts'
import { microUsdc, parseAmount } from '../../../server/src/values/money.ts'
import { addWalletOwner, seedOwner } from './people.ts'
import { RECIPIENT, seed, type Seed, type SeedOptions } from './seed.ts'

/** A seeded workspace, and the person whose wallet passkey owns its wallet. */
export interface Withdrawer {
  readonly seeded: Seed
  readonly owner: SoftwarePasskey
  /** The passkey that the person signs in with, which owns nothing. */
  readonly signInPasskey: SoftwarePasskey
  readonly actor: { readonly kind: 'user'; readonly id: string }
}

/** Needs no enclave that verifies signatures: the service verifies the owner's signature itself. */
export async function openWithdrawer(ctx: Context, options: SeedOptions = {}): Promise<Withdrawer> {
  const seeded = await seed(ctx, options)
  const { userId, passkey } = await seedOwner(ctx, seeded.workspace)
  const owner = await addWalletOwner(ctx, userId)
  const wallet = { workspaceId: seeded.workspace.id, mode: seeded.mode, address: seeded.wallet }
  await ctx.db.write(insertOwner(wallet, { credentialId: owner.credentialId, addedAt: ctx.clock.now() }))
  return { seeded, owner, signInPasskey: passkey, actor: { kind: 'user', id: userId } }
}

interface Wanted {
  readonly to?: Address
  readonly wallet?: Address
  /** Null withdraws all of the balance that no other payment has reserved. */
  readonly amountUsdc?: string | null
}

export async function issueWithdrawal(
  ctx: Context,
  { seeded, actor }: Withdrawer,
  { to = RECIPIENT, wallet = seeded.wallet, amountUsdc = '1' }: Wanted = {},
): Promise<IssuedWithdrawal> {
  const amount = amountUsdc === null ? null : { amountMicro: parseAmount(amountUsdc) ?? microUsdc(0n), amountUsdc }
  const { workspace, mode } = seeded
  return await issueWithdrawalRequest(ctx, { workspaceId: workspace.id, mode, wallet, to, amount, actor })
}

/** Signs the withdrawal with `passkey`, by default the owner's passkey, and submits the signature. */
export async function signWithdrawal(
  ctx: Context,
  { seeded, owner, actor }: Withdrawer,
  { requestId, signingRequest }: IssuedWithdrawal,
  passkey = owner,
): Promise<Payment> {
  const assertion = passkey.assert(signingRequest.payload)
  return await submitWithdrawal(ctx, { workspaceId: seeded.workspace.id, requestId, assertion, actor })
}

export async function withdraw(ctx: Context, withdrawer: Withdrawer, wanted: Wanted = {}): Promise<Payment> {
  return await signWithdrawal(ctx, withdrawer, await issueWithdrawal(ctx, withdrawer, wanted))
}
