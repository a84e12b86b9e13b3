import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'

/**
 * The session, for the sign-in pages. They redirect as soon as there is one, so it is not refetched when the window
 * regains the focus from a passkey prompt: sign-up may still have to show the recovery codes.
 */
export function useSessionWithoutRefetch() {
  return useQuery({ ...sessionQuery, refetchOnWindowFocus: false, refetchOnReconnect: false })
}
