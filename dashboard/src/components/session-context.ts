import { createContext, useContext } from 'react'
import type { Session } from '@bursar/server/src/console/contract/session.ts'

/** The session of the signed-in user. Set by `RequireSession`. */
export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession must be used inside RequireSession')
  return session
}
