import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { StopScope } from '../grants/stopped-grants-store.ts'

/** One request that suspended all grants of a scope (D87). In force while it keeps a grant suspended. */
export interface Stop extends StopScope {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly createdAt: Date
  /** The user who made it. Null for the operator. */
  readonly createdBy: string | null
}

/** The grants that a stop would suspend now, and the agents and wallets that they are for. */
export interface StopCounts {
  readonly grants: number
  readonly agents: number
  readonly wallets: number
}

/** What a stop would stop now, and what it would not. */
export interface StopPreview extends StopCounts {
  /** Payments of agents that are pending. They may still be made. At most `PENDING_COUNTED_MAX` are counted. */
  readonly pendingPayments: number
}

/** The grants of one wallet that a stop keeps suspended. */
export interface StoppedWallet {
  readonly address: Address
  readonly name: string
  readonly grants: number
}

/** A stop in force, the person who made it, and what it keeps suspended. */
export interface StopInForce {
  readonly stop: Stop
  readonly createdByName: string | null
  readonly wallets: readonly StoppedWallet[]
}

export const PENDING_COUNTED_MAX = 10_000
/** One signature resumes at most this many grants. The person then signs again for the rest. */
export const RESUMED_MAX = 5_000
