import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { sessionQuery } from '../api/session.ts'
import { withNext } from '../navigation/next-path.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Loading } from './loading.tsx'
import { SessionContext } from './session-context.ts'

/** What the page of signing in is told: whether somebody was signed in a moment ago. */
export interface SignInState {
  readonly hasEnded: boolean
}

/** The pages below are for signed-in people; others sign in first, and come back to where they wanted to go. */
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
