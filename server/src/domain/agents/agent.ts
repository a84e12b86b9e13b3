import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/** The rolling window of a grant's daily limit (D16). */
export const CAP_WINDOW_MS = 24 * 60 * 60 * 1_000

/**
 * A wallet from which an agent can currently spend. There is one for each grant that is active, unexpired and not
 * suspended (D9).
 */
export interface SpendableWallet {
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
  readonly expiresAt: Date | null
}

/** A grant of any agent that can be spent from now. */
export interface SpendableGrant {
  readonly agentId: string
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
}

/** A named identity within one (account, mode), with what its grants allow. */
export interface Agent {
  readonly id: string
  readonly mode: Mode
  readonly createdAt: Date
  readonly activeSigners: number
  readonly pendingSigners: number
  readonly wallets: readonly SpendableWallet[]
}

/** Returns the start of the window that ends now. A payment made exactly at the start is outside of the window. */
export function windowStart(now: Date): Date {
  return new Date(now.getTime() - CAP_WINDOW_MS)
}
