import { createContext, useContext } from 'react'
import type { Session } from '@bursar/server/src/console/contract/session.ts'

/** The signed-in person's session, below `RequireSession`. */
export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession stands outside RequireSession')
  return session
}
