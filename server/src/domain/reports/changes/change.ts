import type { Mode } from '../../../values/mode.ts'

/** Which part of a page is out of date after a change. */
export type ChangeKind = 'payments' | 'deposits' | 'grants' | 'refusals'

/** The data that one page shows: one account in one mode. */
export interface Place {
  readonly accountId: string
  readonly mode: Mode
}

export interface Change extends Place {
  readonly kind: ChangeKind
  /** The id of the event or of the refusal. */
  readonly id: string
}
