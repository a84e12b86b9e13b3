import type { Cell } from '../../values/secret.ts'

/**
 * A move of a workspace to another cell (D95). In the cell that the workspace leaves, a move is `draining` while the
 * work that has begun is finished, and the workspace rejects requests that could write. It is `taken_out` once the
 * workspace's rows have left the tables, and `moved` once the other cell has them. In the cell that the workspace
 * enters, it is `arrived`. An `undone` move can never arrive.
 */
export type MoveState = 'draining' | 'taken_out' | 'moved' | 'arrived' | 'undone'

export interface Move {
  readonly id: string
  readonly workspaceId: string
  readonly slug: string
  /** The name of the other cell. */
  readonly cell: Cell
  readonly state: MoveState
  readonly startedAt: Date
  readonly endedAt: Date | null
}

/** After how many seconds a request to a workspace that is being moved should be sent again. */
export const MOVING_RETRY_AFTER_SECONDS = 5
