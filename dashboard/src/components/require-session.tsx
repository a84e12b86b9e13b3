import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router'
import { sessionQuery } from '../api/session.ts'
import { withNext } from '../navigation/next-path.ts'
import { ErrorNotice } from './error-notice.tsx'
import { SessionContext } from './session-context.ts'
import { StartFallback } from './start-fallback.tsx'
import { Wordmark } from './wordmark.tsx'

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
  if (error === null) return <StartFallback />
  return (
    <>
      <header className="border-b border-line bg-surface">
        <div className="mx-auto w-full max-w-4xl px-4 py-2 sm:px-6">
          <Wordmark />
        </div>
      </header>
      <main className="mx-auto grid w-full max-w-4xl gap-4 px-4 py-8 sm:px-6">
        <title>Bursar</title>
        <h1 className="text-2xl font-bold">This page could not be loaded</h1>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </main>
    </>
  )
}
