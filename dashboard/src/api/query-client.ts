import { QueryCache, MutationCache, QueryClient } from '@tanstack/react-query'
import { ApiError, hasCode, isTransient, isSignedOut } from './api-error.ts'
import { sessionQuery } from './session.ts'

const RETRIES_MAX = 2
/** Bursar may run on this very computer, so a browser that is offline may still reach it. */
const ALWAYS = { networkMode: 'always' } as const
/** However many responses say that the person's role has changed, the session is read again at most this often. */
const SESSION_GAP_MS = 3_000

/**
 * Creates the cache of all queries. Any response may show that the session has ended; the pages then lead to the sign-in
 * page. A response that the person's role does not allow, or a workspace that is gone, makes the session be read again: it
 * lists the person's workspaces and roles.
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
        retry: (failures, error) => failures < RETRIES_MAX && isTransient(error),
      },
      mutations: { ...ALWAYS, retry: false },
    },
  })
  return client
}

function mayConcernMembership(error: unknown): boolean {
  return hasCode(error, 'role_insufficient') || (error instanceof ApiError && error.status === 404)
}
