import { useOutletContext } from 'react-router'
import type { Workspace } from '../../api/wire.ts'

/** The workspace that the pages below `WorkspaceLayout` are about, with one's role in it. */
export function useWorkspace(): Workspace {
  return useOutletContext<Workspace>()
}
