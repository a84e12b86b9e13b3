import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { sessionQuery } from '../api/session.ts'
import { withNext } from '../navigation/next-path.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Loading } from './loading.tsx'
import { SessionContext } from './session-context.ts'

/** Navigation state of the sign-in page: whether a session has just ended. */
export interface SignInState {
  readonly hasEnded: boolean
}

/** Requires a session for the pages below. Without one, redirects to sign-in, which returns to the requested page. */
export function RequireSession() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  const { pathname, search } = useLocation()
  const [wasSignedIn, setSignedIn] = useState(false)
  if (session !== null && session !== undefined && !wasSignedIn) setSignedIn(true)
  if (session === null) {
    const state: SignInState = { hasEnded: wasSignedIn }
    return <Navigate to={withNext('/sign-in', pathname + search)} state={state} replace />
  }
  if (session !== undefined) {
    return (
      <SessionContext value={session}>
        <Outlet />
      </SessionContext>
    )
  }
  return (
    <div className="mx-auto w-full max-w-xl p-6">
      {error === null ? <Loading /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </div>
  )
}
