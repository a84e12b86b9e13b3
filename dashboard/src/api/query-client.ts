import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isPassing, isSignedOut } from './api-error.ts'
import { sessionQuery } from './session.ts'

const RETRIES_MAX = 2
/** Bursar may run on this very computer: the browser's being offline says nothing. */
const ALWAYS = { networkMode: 'always' } as const

/** The cache of what was read. A session that ended is noted wherever it shows; the pages then lead to signing in. */
export function createQueryClient(): QueryClient {
  const noteEnd = (error: unknown) => {
    if (isSignedOut(error)) client.setQueryData(sessionQuery.queryKey, null)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: noteEnd }),
    mutationCache: new MutationCache({ onError: noteEnd }),
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
