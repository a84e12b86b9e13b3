import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/** The rolling window of a grant's daily cap (D16). */
export const CAP_WINDOW_MS = 24 * 60 * 60 * 1_000

/** A wallet that an agent may spend from now: one entry for each active, unexpired, not suspended grant (D9). */
export interface SpendableWallet {
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
  readonly expiresAt: Date | null
}

/** A grant that can be spent from now, whichever agent's it is. */
export interface SpendableGrant {
  readonly agentId: string
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
}

/** A named identity within one (account, mode), with what its grants make of it. */
export interface Agent {
  readonly id: string
  readonly mode: Mode
  readonly createdAt: Date
  readonly activeSigners: number
  readonly pendingSigners: number
  readonly wallets: readonly SpendableWallet[]
}

/** The start of the window that ends now; a payment made exactly then has left it. */
export function windowStart(now: Date): Date {
  return new Date(now.getTime() - CAP_WINDOW_MS)
}
