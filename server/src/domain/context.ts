import type { Chain } from '../chain/open-chain.ts'
import type { Database } from '../db/database.ts'
import type { Enclave } from '../enclave/open-enclave.ts'
import type { Clock } from '../lib/clock.ts'
import type { OutboundPolicy } from '../lib/outbound/policy.ts'
import type { Logger } from '../lib/logger.ts'
import type { Sealer } from '../lib/sealing.ts'
import type { Mode } from '../values/mode.ts'
import type { BalanceSnapshots } from '../chain/balance-snapshots.ts'

/** What every verb of the domain is handed first: its ways to the outside. */
export interface Context {
  readonly db: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly sealer: Sealer
  readonly enclave: Enclave
  readonly chains: Readonly<Record<Mode, Chain>>
  readonly balances: BalanceSnapshots
  /** Where webhooks may go. */
  readonly outbound: OutboundPolicy
  /** Where owners meet their passkeys: WebAuthn's relying party. */
  readonly relyingParty: { readonly id: string; readonly origin: string }
}
