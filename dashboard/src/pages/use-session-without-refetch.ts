import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'

/**
 * The session, for the pages for sign-in, sign-up and recovery. These pages redirect as soon as there is a session. So
 * the session is not fetched again when the window regains the focus after a passkey prompt: sign-up may still have to
 * show the recovery codes.
 */
export function useSessionWithoutRefetch() {
  return useQuery({ ...sessionQuery, refetchOnWindowFocus: false, refetchOnReconnect: false })
}
