import type { Mode } from '../../../values/mode.ts'

/** The kind of data that has changed. A dashboard page reloads the parts that show it. */
export type ChangeKind = 'payments' | 'deposits' | 'grants' | 'refusals'

/** An workspace and a mode. Each page of the dashboard shows the data of one workspace in one mode. */
export interface Place {
  readonly workspaceId: string
  readonly mode: Mode
}

export interface Change extends Place {
  readonly kind: ChangeKind
  /** The id of the event, refusal or audit entry that reports the change. */
  readonly id: string
}
