import type { Chain } from '../chain/open-chain.ts'
import type { Database } from '../db/database.ts'
import type { DeferredWrites } from '../db/deferred-writes.ts'
import type { ServerKey } from '../db/server-key.ts'
import type { Enclave } from '../enclave/enclave.ts'
import type { Clock } from '../lib/clock.ts'
import type { FailureLog } from '../lib/failure-log.ts'
import type { OutboundRules } from '../lib/outbound/policy.ts'
import type { Outbound } from '../lib/outbound/send-request.ts'
import type { Logger } from '../lib/logger.ts'
import type { Measurements } from '../lib/measurements.ts'
import type { Pools } from '../lib/pools.ts'
import type { Sealer } from '../lib/sealing.ts'
import type { SharedPoll } from '../lib/shared-poll.ts'
import type { Mode } from '../values/mode.ts'
import type { Cell } from '../values/secret.ts'
import type { BalanceSnapshots } from '../chain/balance-snapshots.ts'

/**
 * The services that an operation uses, such as the database and the clock. Every operation receives the context as its
 * first argument. It also holds what a process keeps as long as it runs, such as queues. If the type of such a field
 * belongs to a room, the room's own file adds the field to this interface: `reservations` (`reserve-in-turn.ts`) and
 * `paymentReads` (`refresh-payment.ts`).
 */
export interface Context {
  readonly db: Database
  /** Writes that no response waits for. */
  readonly deferredWrites: DeferredWrites
  readonly clock: Clock
  readonly logger: Logger
  /** Where what failed on our side is logged. */
  readonly failures: FailureLog
  readonly measurements: Measurements
  readonly sealer: Sealer
  /** The key with which the successors of refresh tokens are derived (D38a). */
  readonly successorKey: ServerKey
  readonly enclave: Enclave
  readonly chains: Readonly<Record<Mode, Chain>>
  readonly balances: BalanceSnapshots
  readonly ledger: LedgerMemory
  /** The last webhook endpoint that this process examined, separately for endpoints that hang and for all others. */
  readonly webhooksExamined: Record<'hanging' | 'prompt', { readonly workspaceId: string; readonly id: string }>
  /** The cell whose name new API keys and tokens carry (D95). Null if the installation has one cell only. */
  readonly cell: Cell | null
  /** The last workspace whose old events this process has deleted. */
  readonly eventsExamined: { workspaceId: string }
  /** How many slots a new wallet gets. */
  readonly walletSlots: number
  /**
   * The addresses that webhooks may be sent to, and that client metadata documents may be read from, and how these
   * requests name us.
   */
  readonly outbound: OutboundRules
  /** How long the rows of requests to others are kept. */
  readonly outboundRetentionMs: number
  /** The connections to the HTTP resources that agents buy. They have the same policy as `outbound`. */
  readonly resources: Outbound
  /** What this process shares out between workspaces and strangers. */
  readonly pools: Pools
  /** The callers of this process that wait until a payment is settled. */
  readonly paymentWaits: SharedPoll
  /** The site that people sign in on with their passkeys. */
  readonly relyingParty: RelyingParty
  /** The signer page, where owners use their wallet passkeys (D60). Null if none is configured. */
  readonly signer: RelyingParty | null
}

/** What a process remembers, to notice that its database was restored from a backup (D96). */
export interface LedgerMemory {
  /** The comparison of each mode's ledger with its chain, which precedes the first payment. */
  readonly compared: Map<Mode, Promise<void>>
  /** The newest payment that this process has reserved. A database without it has lost commits. */
  newestPayment: { readonly workspaceId: string; readonly id: string } | null
  /** The newest payment, once the database was found not to have it. */
  missedPayment: LedgerMemory['newestPayment']
}

/** WebAuthn's relying party: a site that passkeys are registered for. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}
