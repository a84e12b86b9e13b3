import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { ApiError } from '../../api/api-error.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { samePageIn } from '../../navigation/paths.ts'
import { useWorkspace } from './use-workspace.ts'

interface ItemStateProps {
  /** What the page shows, such as `payment`. */
  readonly noun: string
  /** The error of the query. Null while it is loading. */
  readonly error: unknown
  readonly onRetry: () => unknown
  readonly lines?: number
  /** Asks the server for the same object in the other mode. */
  readonly find: (mode: Mode) => Promise<unknown>
}

/**
 * Shown instead of an object that is not available: a skeleton while it loads, or the error. If there is no such object
 * in this mode but there is one in the other mode, offers to open that one.
 */
export function ItemState({ noun, error, onRetry, lines = 4, find }: ItemStateProps) {
  const { mode } = useWorkspace()
  const { pathname } = useLocation()
  const other: Mode = mode === 'test' ? 'live' : 'test'
  const isMissing = error instanceof ApiError && error.status === 404
  const { isSuccess, isLoading } = useQuery({
    queryKey: ['in-other-mode', pathname],
    queryFn: async () => (await find(other)) !== undefined,
    enabled: isMissing,
    retry: false,
  })
  if (isSuccess) return <InOtherMode noun={noun} mode={other} />
  return <QueryState error={isLoading ? null : error} onRetry={onRetry} lines={lines} />
}

/** Says in which mode an object is, and offers to open it there. */
export function InOtherMode({ noun, mode }: { readonly noun: string; readonly mode: Mode }) {
  const { slug } = useWorkspace()
  const { pathname } = useLocation()
  return (
    <EmptyState
      title={`This ${noun} is in ${mode} mode`}
      action={<TextLink to={samePageIn(pathname, slug, mode)}>Open it in {mode} mode</TextLink>}
    >
      You are in {mode === 'test' ? 'live' : 'test'} mode.
    </EmptyState>
  )
}
