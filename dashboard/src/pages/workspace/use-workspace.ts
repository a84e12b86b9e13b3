import { useOutletContext } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { SessionWorkspace } from '@bursar/server/src/console/contract/session.ts'
import { pathTo } from '../../navigation/paths.ts'

export interface CurrentWorkspace extends SessionWorkspace {
  readonly mode: Mode
  /** The path of a page of this workspace in this mode. */
  readonly to: (...parts: readonly string[]) => string
}

/** The current workspace with the user's role in it, and the mode. For pages below `WorkspaceLayout`. */
export function useWorkspace(): CurrentWorkspace {
  const context = useOutletContext<SessionWorkspace & { readonly mode: Mode }>()
  return { ...context, to: (...parts) => pathTo(context.slug, context.mode, ...parts) }
}
