import type { Mode } from '../../values/mode.ts'

/**
 * What is counted: `answers` are the responses of sellers, with what is reserved for those that may still come,
 * `responses` those of webhook receivers, and `refusals` rejected payment requests.
 */
export type StoredKind = 'answers' | 'responses' | 'refusals'

/** The kinds of which the oldest go first if their budget is full. */
export type DroppedKind = Exclude<StoredKind, 'answers'>

/**
 * The budgets of these kinds in each mode, in bytes: 1,000 of the longest responses of receivers, and all the rejected
 * requests that are kept if they have an ordinary size.
 */
export const DROPPED_BYTES_MAX: Readonly<Record<DroppedKind, number>> = {
  responses: 16 * 1_024 * 1_024,
  refusals: 16 * 1_024 * 1_024,
}
/**
 * For each row that is added to a full budget, at most this many of the oldest rows go. The longest row is not longer
 * than this many of the shortest ones, so the budget is not exceeded for long.
 */
export const DROPPED_FOR_ONE_MAX = 64

/** What a workspace keeps in one mode, and the most that it may keep (D93). */
export interface StoredBytes {
  readonly usedBytes: number
  readonly budgetBytes: number
}

/** Room that is reserved in a budget. */
export interface BytesReservation {
  readonly workspaceId: string
  readonly mode: Mode
  readonly bytes: number
  readonly budgetBytes: number
}
