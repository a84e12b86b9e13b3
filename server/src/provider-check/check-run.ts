import type { ChainSettings } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import type { ChainView } from './chain-view.ts'
import type { CheckPasskey } from './create-passkey.ts'
import type { Outcome } from './outcome.ts'
import type { ProviderWire, Sign } from './provider-wire.ts'

/** What all steps of one run of the provider check share. */
export interface CheckRun {
  readonly wire: ProviderWire
  readonly chain: ChainView
  readonly settings: ChainSettings
  readonly proxy: EgressProxy | null
  readonly clock: Clock
  readonly passkey: CheckPasskey
  /** Becomes an owner too (step 14). */
  readonly secondPasskey: CheckPasskey
  readonly agent: { readonly publicKey: string; readonly sign: Sign }
  /** Part of all idempotency keys and reference ids of this run, so that they are unique. */
  readonly runId: string
}

export interface CheckWallet {
  readonly id: string
  readonly address: Address
  readonly ownerId: string
  /** The wallet's one signer, and the policy that limits it. */
  readonly slot: CheckGrant
}

export interface CheckGrant {
  readonly signerId: string
  readonly policyId: string
}

/** The amount of each transfer. A transfer goes from the wallet to itself, so that nothing is spent. */
export const AMOUNT_MICRO = microUsdc(1n)
/** The per-payment limit of the test policy. */
export const MAX_MICRO = microUsdc(100n)
/** The code of the enclave's answer if no rule allows a request. */
export const POLICY_VIOLATION = 'policy_violation'
/** How long a signed request is valid. */
const REQUEST_LIFE_MS = 60_000

export function expiryOf({ clock }: CheckRun): Date {
  return new Date(clock.now().getTime() + REQUEST_LIFE_MS)
}

/** Returns the terms of the test policy: up to a hundred times the amount of a transfer, only to the wallet itself. */
export function termsOf({ settings }: CheckRun, wallet: CheckWallet) {
  return {
    ruleName: 'The provider check',
    chainId: settings.chainId,
    maxPerTxMicro: MAX_MICRO,
    recipientAllowlist: [wallet.address],
    contractAllowlist: [settings.usdc],
    expiresAt: null,
    x402: true,
    usdc: settings.usdc,
  }
}

export function compare(isSame: boolean, outcome: Omit<Outcome, 'verdict'>): Outcome {
  return { verdict: isSame ? 'same' : 'differs', ...outcome }
}
