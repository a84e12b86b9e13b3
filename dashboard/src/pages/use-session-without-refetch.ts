import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'

/**
 * The session, for the pages for sign-in, sign-up and recovery. These pages redirect as soon as the session is known.
 * After a passkey prompt, the window regains the focus. The session is not fetched again then, because a redirect would
 * prevent sign-up from showing the recovery codes.
 */
export function useSessionWithoutRefetch() {
  return useQuery({ ...sessionQuery, refetchOnWindowFocus: false, refetchOnReconnect: false })
}
