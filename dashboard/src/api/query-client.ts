import { QueryCache, MutationCache, QueryClient } from '@tanstack/react-query'
import { ApiError, hasCode, isPassing, isSignedOut } from './api-error.ts'
import { sessionQuery } from './session.ts'

const RETRIES_MAX = 2
/** Bursar may run on this very computer: the browser's being offline says nothing. */
const ALWAYS = { networkMode: 'always' } as const
/** However many answers say that one's place is another by now, the session is read anew at most this often. */
const SESSION_GAP_MS = 3_000

/**
 * The cache of what was read. A session that ended is noted wherever it shows; the pages then lead to signing in. What
 * is refused to one's role, or gone with the whole workspace, has the session read anew: it says where one belongs.
 */
export function createQueryClient(): QueryClient {
  let readableAt = Number.NEGATIVE_INFINITY
  const note = (error: unknown) => {
    if (isSignedOut(error)) client.setQueryData(sessionQuery.queryKey, null)
    if (!mayTellOfPlace(error) || performance.now() < readableAt) return
    readableAt = performance.now() + SESSION_GAP_MS
    void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (queryKey[0] === 'workspaces' || isSignedOut(error)) note(error)
      },
    }),
    mutationCache: new MutationCache({ onError: note }),
    defaultOptions: {
      queries: {
        ...ALWAYS,
        retry: (failures, error) => failures < RETRIES_MAX && isPassing(error),
      },
      mutations: { ...ALWAYS, retry: false },
    },
  })
  return client
}

function mayTellOfPlace(error: unknown): boolean {
  return hasCode(error, 'role_insufficient') || (error instanceof ApiError && error.status === 404)
}
