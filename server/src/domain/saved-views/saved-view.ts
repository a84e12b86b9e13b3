import type { Mode } from '../../values/mode.ts'

/** A view of the payments that a workspace has saved under a name. */
export interface SavedView {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly name: string
  /** The query of the page's URL, as `parseViewQuery` returns it. */
  readonly query: string
  readonly createdAt: Date
}

/** How many views one workspace and mode may have. */
export const SAVED_VIEWS_MAX = 50
