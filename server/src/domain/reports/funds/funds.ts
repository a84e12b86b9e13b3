import type { Address } from '../../../values/address.ts'
import { grantState, type GrantState } from '../../grants/grant-state.ts'
import { remainingMicro } from '../../grants/decide-limits.ts'

/** The active grants of at most this many pairs of agent and wallet are read. Beyond, less than is left is shown. */
export const ACTIVE_GRANTS_READ_MAX = 5_000

/** A wallet with the balance that was last read from the chain. */
export interface WalletBalance {
  readonly address: Address
  readonly name: string
  /** Null if the balance has not been read yet. */
  readonly balanceMicro: bigint | null
  readonly readAt: Date | null
  /** The payments that the balance does not reflect yet. */
  readonly heldMicro: bigint
  /** How many passkeys own the wallet. */
  readonly owners: number
  /** How many payments have been pending for too long. */
  readonly overdue: number
}

/** A grant that an owner has signed, with what the agent spent under it in the last 24 hours. */
export interface ActiveGrant {
  readonly id: string
  readonly agentId: string
  readonly wallet: Address
  readonly suspendedAt: Date | null
  readonly expiresAt: Date | null
  /** Since when the enclave has had other terms for the grant (D79). Null if they were the same when last compared. */
  readonly differsSince: Date | null
  readonly dailyCapMicro: bigint
  readonly spent24hMicro: bigint
}

/** What a wallet holds, and how much of it agents can still spend now. */
export interface WalletFunds extends WalletBalance {
  /** The balance without the payments that it does not reflect yet. Null if it has not been read yet. */
  readonly availableMicro: bigint | null
  /** What is left of the 24-hour limits of the wallet's grants, whatever the wallet holds. */
  readonly limitsLeftMicro: bigint
  /** What agents can still spend: never more than is available. Null if the balance has not been read yet. */
  readonly canSpendMicro: bigint | null
  /** What agents spent from the wallet in the last 24 hours under their active grants. */
  readonly spent24hMicro: bigint
}

/** How much of a grant's 24-hour limit is used now. */
export interface CapUse extends ActiveGrant {
  readonly walletName: string
  readonly state: GrantState
}

/** Says for each wallet how much agents can still spend. Under a suspended or expired grant, they can spend nothing. */
export function addUpFunds(
  wallets: readonly WalletBalance[],
  grants: readonly ActiveGrant[],
  now: Date,
): WalletFunds[] {
  const byWallet = Map.groupBy(grants, ({ wallet }) => wallet)
  return wallets.map((wallet) => {
    const own = byWallet.get(wallet.address) ?? []
    const limitsLeftMicro = own.reduce((total, grant) => total + leftMicro(grant, now), 0n)
    const availableMicro = availableOf(wallet)
    return {
      ...wallet,
      availableMicro,
      limitsLeftMicro,
      canSpendMicro: availableMicro === null ? null : lower(availableMicro, limitsLeftMicro),
      spent24hMicro: own.reduce((total, { spent24hMicro }) => total + spent24hMicro, 0n),
    }
  })
}

/** Lists the grants that have used the largest share of their 24-hour limit, at most `limit` of them. */
export function listFullest(
  funds: readonly WalletFunds[],
  grants: readonly ActiveGrant[],
  { now, limit }: { readonly now: Date; readonly limit: number },
): CapUse[] {
  const names = new Map(funds.map(({ address, name }) => [address, name]))
  return grants
    .toSorted(byShare)
    .slice(0, limit)
    .map((grant) => ({ ...grant, walletName: names.get(grant.wallet) ?? '', state: stateOf(grant, now) }))
}

/** Returns the state of a signed grant. */
function stateOf({ suspendedAt, expiresAt }: ActiveGrant, now: Date): GrantState {
  return grantState({ status: 'active', replacedBy: null, suspendedAt, expiresAt }, now)
}

function leftMicro(grant: ActiveGrant, now: Date): bigint {
  return stateOf(grant, now) === 'active' ? remainingMicro(grant.dailyCapMicro, grant.spent24hMicro) : 0n
}

function availableOf({ balanceMicro, heldMicro }: WalletBalance): bigint | null {
  return balanceMicro === null ? null : balanceMicro > heldMicro ? balanceMicro - heldMicro : 0n
}

function byShare(left: ActiveGrant, right: ActiveGrant): number {
  const [first, second] = [left.spent24hMicro * right.dailyCapMicro, right.spent24hMicro * left.dailyCapMicro]
  if (first !== second) return first > second ? -1 : 1
  return left.id < right.id ? -1 : 1
}

function lower(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
