import { QueryCache, MutationCache, QueryClient } from '@tanstack/react-query'
import { ApiError, hasCode, isTransient, isSignedOut, waitOf } from './api-error.ts'
import { sessionQuery } from './session.ts'

const RETRIES_MAX = 2
/** The wait before the first retry. It doubles with each retry. */
const FIRST_RETRY_MS = 1_000
/** Requests are sent even while the browser is offline, because Bursar may run on the same computer. */
const ALWAYS = { networkMode: 'always' } as const
/** After a fetch of the session, responses that show a changed role cause no further fetch for this long. */
const SESSION_GAP_MS = 3_000

/**
 * Creates the cache of all queries. Any response may show that the session has ended. The pages then redirect to the
 * sign-in page. If a response shows that the user's role has changed or that a workspace is gone, the session is
 * fetched again, because it lists the user's workspaces and roles.
 */
export function createQueryClient(): QueryClient {
  let readableAt = Number.NEGATIVE_INFINITY
  const note = (error: unknown) => {
    if (isSignedOut(error)) client.setQueryData(sessionQuery.queryKey, null)
    if (!mayConcernMembership(error) || performance.now() < readableAt) return
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
        retry: (failures, error) => failures < RETRIES_MAX && (isTransient(error) || waitOf(error) !== null),
        retryDelay: (failures, error) => waitOf(error) ?? FIRST_RETRY_MS * 2 ** failures,
      },
      mutations: { ...ALWAYS, retry: false },
    },
  })
  return client
}

function mayConcernMembership(error: unknown): boolean {
  return (
    hasCode(error, 'role_insufficient') ||
    hasCode(error, 'workspace_moved') ||
    (error instanceof ApiError && error.status === 404)
  )
}
