import type { Mode } from '../../values/mode.ts'

/** What is counted: `answers` are the responses of sellers, and what is reserved for those that may still come. */
export type StoredKind = 'answers'

/** What a workspace keeps in one mode, and the most that it may keep (D93). */
export interface StoredBytes {
  readonly usedBytes: number
  readonly budgetBytes: number
}

/** Room that is reserved in a budget. */
export interface BytesReservation {
  readonly accountId: string
  readonly mode: Mode
  readonly bytes: number
  readonly budgetBytes: number
}
