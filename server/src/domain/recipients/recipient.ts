import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'

/**
 * A workspace's label for an address that it pays. A label does not allow any payment: only grants decide who can be
 * paid.
 */
export interface Recipient {
  readonly workspaceId: string
  readonly mode: Mode
  readonly address: Address
  readonly label: string
  readonly createdAt: Date
}

/** How many labels one workspace and mode may have. */
export const SAVED_RECIPIENTS_MAX = 1_000
