import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'

/**
 * The session for the pages of signing in, which leave once there is one. It is not read again when the window gets the
 * focus back from a passkey prompt: the page may still have something to show that is told once.
 */
export function useSessionWithoutRefetch() {
  return useQuery({ ...sessionQuery, refetchOnWindowFocus: false, refetchOnReconnect: false })
}
