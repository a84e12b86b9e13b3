import { useOutletContext } from 'react-router'
import type { Mode, Workspace } from '../../api/wire.ts'
import { pathTo } from '../../navigation/paths.ts'

export interface CurrentWorkspace extends Workspace {
  readonly mode: Mode
  /** The address of a page of this workspace, in this mode. */
  readonly to: (...parts: readonly string[]) => string
}

/** The workspace that the pages below `WorkspaceLayout` are about, one's role in it, and the mode. */
export function useWorkspace(): CurrentWorkspace {
  const place = useOutletContext<Workspace & { readonly mode: Mode }>()
  return { ...place, to: (...parts) => pathTo(place.slug, place.mode, ...parts) }
}
