import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'

/** What a workspace calls an address that is paid to. It allows nothing: what may be paid to stands in grants. */
export interface Recipient {
  readonly accountId: string
  readonly mode: Mode
  readonly address: Address
  readonly label: string
  readonly createdAt: Date
}

/** In each (account, mode). */
export const SAVED_RECIPIENTS_MAX = 1_000
