import type { Mode } from '../../../values/mode.ts'

/** What a page may show otherwise now. */
export type ChangeKind = 'payments' | 'deposits' | 'grants' | 'refusals'

export interface Place {
  readonly accountId: string
  readonly mode: Mode
}

export interface Change extends Place {
  readonly kind: ChangeKind
  /** Of the event, or of the refusal. */
  readonly id: string
}
