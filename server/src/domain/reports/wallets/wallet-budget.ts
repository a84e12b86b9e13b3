import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { LiveGrantState } from '../../agents/agent-state.ts'
import { BALANCES_READ_MAX } from '../../wallets/wallet.ts'

/** A wallet, with what agents may spend from it (D54). */
export interface WalletBudget {
  readonly address: Address
  readonly name: string
  readonly mode: Mode
  /** Null if the chain could not be reached in time. */
  readonly balanceMicro: MicroUsdc | null
  readonly grants: readonly GrantBudget[]
}

/** What one agent may spend from a wallet under one grant. */
export interface GrantBudget {
  readonly id: string
  readonly agentId: string
  readonly state: LiveGrantState
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  /** What the agent spent from the wallet in the last 24 hours, under any grant (D16). */
  readonly spent24hMicro: MicroUsdc
  /** An empty list allows any recipient. */
  readonly recipients: readonly LabeledAddress[]
  readonly expiresAt: Date | null
  readonly x402: boolean
}

export interface LabeledAddress {
  readonly address: Address
  /** Null if the workspace has not labeled the address. */
  readonly label: string | null
}

/** A page has at most this many wallets, because one request reads at most this many balances. */
export const WALLETS_PAGE_MAX = BALANCES_READ_MAX
export const WALLETS_PAGE_DEFAULT = 20

/**
 * The grants of a page together allow at most this many recipients, so that a response has at most a few MB. A wallet
 * has at most 50 slots, each with up to two grants of 100 recipients, so every wallet fits on a page.
 */
export const PAGE_RECIPIENTS_MAX = 10_000

/**
 * Returns the first `limit` of these wallets, or fewer if their grants allow more than `PAGE_RECIPIENTS_MAX` recipients
 * together. Returns at least one wallet if there is one.
 */
export function takePage<
  Wallet extends { readonly grants: readonly { readonly recipientAllowlist: readonly unknown[] }[] },
>(wallets: readonly Wallet[], limit: number): readonly Wallet[] {
  let recipients = 0
  const end = wallets.slice(0, limit).findIndex(({ grants }, index) => {
    recipients += grants.reduce((count, { recipientAllowlist }) => count + recipientAllowlist.length, 0)
    return index > 0 && recipients > PAGE_RECIPIENTS_MAX
  })
  return wallets.slice(0, end < 0 ? limit : end)
}
