import type { Account } from '../../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { listLiveGrants } from '../../../server/src/domain/grants/grants-store.ts'
import { openGrant } from '../../../server/src/domain/grants/open-grant.ts'
import { openWalletMove } from '../../../server/src/domain/owners/open-wallet-move.ts'
import { submitOwnerSignature } from '../../../server/src/domain/owners/submit-owner-signature.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import { findWallet } from '../../../server/src/domain/wallets/wallets-store.ts'
import type { AgentId } from '../../../server/src/values/agent-id.ts'
import { parseAddress } from '../../../server/src/values/address.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import type { Mode } from '../addresses.ts'
import type { DemoMode } from '../state/sandbox-state.ts'
import type { ControlContext } from './control-context.ts'
import { ownerOf, walletOwnerOf } from './owners.ts'
import { signGrant } from './sign-grant.ts'
import { signRecord } from './sign-record.ts'

/** The limits of one mode's demo grant. The grant has no end date, and allows purchases and every recipient. */
export interface DemoTerms {
  readonly maxPerTxMicro: ReturnType<typeof microUsdc>
  readonly dailyCapMicro: ReturnType<typeof microUsdc>
}

/**
 * If a sign-in passkey owns the demo wallet of a mode, moves the wallet to its owner's wallet passkey. The move ends
 * the demo grant, so the grant is opened again. If a crash interrupts this, the next start does the remaining steps.
 */
export async function moveDemoWallet(
  control: ControlContext,
  {
    account,
    mode,
    demo,
    agentId,
    terms,
  }: { account: Account; mode: Mode; demo: DemoMode; agentId: AgentId; terms: DemoTerms },
): Promise<void> {
  const { context, state } = control
  const address = parseAddress(demo.wallet)
  if (address === null) throw new Error('the demo wallet has no valid address')
  const wallet = await context.db.runRelaxed(findWallet(account.id, mode, address))
  if (wallet === null) return
  if (wallet.signInOwner !== null) {
    // The sandbox cannot sign for a passkey that it does not have.
    if (wallet.signInOwner.credentialId !== ownerOf(control, account.slug).credentialId) return
    // `needsGrant` is stored first, so that the grant is opened again even if a crash follows the move.
    keepDemo(control, mode, { ...demo, needsGrant: true })
    await moveWallet(control, { account, wallet })
  }
  await signRecord(control, { account, mode, address })
  if (state.current.demo[mode]?.needsGrant !== true) return
  const place = { accountId: account.id, mode, agentId } as const
  const [live] = await context.db.runRelaxed(listLiveGrants(account.id, mode, { agentId, limit: 1 }))
  const grant =
    live ??
    (await openGrant(context, {
      ...{ ...place, ...terms, wallet: address, actor: OPERATOR },
      ...{ recipientAllowlist: [], expiresAt: null, x402: true },
    }))
  if (grant.status === 'pending') await signGrant(control, { account, grantId: grant.id, change: 'activate' })
  state.update({ grants: { ...state.current.grants, [grant.id]: account.slug } })
  keepDemo(control, mode, { key: demo.key, wallet: demo.wallet })
}

async function moveWallet(
  control: ControlContext,
  { account, wallet }: { account: Account; wallet: Wallet },
): Promise<void> {
  const { context } = control
  const { accountId, mode, address } = wallet
  const { credentialId } = await walletOwnerOf(control, account.slug)
  const move = await openWalletMove(context, { accountId, mode, address, credentialId, actor: OPERATOR })
  if (move === null) return
  const assertion = ownerOf(control, account.slug).assert(Buffer.from(move.options.challenge, 'base64url'))
  await submitOwnerSignature(context, { accountId, requestId: move.requestId, assertion, actor: OPERATOR })
}

function keepDemo({ state }: ControlContext, mode: Mode, demo: DemoMode): void {
  state.update({ demo: { ...state.current.demo, [mode]: demo } })
}
