import { useEffect, useRef, useState } from 'react'
import { useRouteError } from 'react-router'
import { send } from '../api/send.ts'
import { Button } from '../components/button.tsx'
import { PageNotLoadedError } from '../navigation/page-loader.ts'

/** Shown when the whole dashboard fails. Uses no providers or layouts, because they may be the cause. */
export function FailurePage() {
  return (
    <main className="mx-auto grid w-full max-w-xl p-6">
      <PageFailure />
    </main>
  )
}

/** Shown instead of a page that crashed or could not be loaded. The layout around the page is still shown. */
export function PageFailure() {
  return useRouteError() instanceof PageNotLoadedError ? <NotLoaded /> : <Crashed />
}

function Crashed() {
  return (
    <div className="grid max-w-xl gap-4">
      <Heading text="Something went wrong on this page" />
      <p className="text-muted">Reload the page. If the problem persists, contact the server operator.</p>
      <p>
        <Button variant="primary" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </p>
    </div>
  )
}

function NotLoaded() {
  const [attempt, setAttempt] = useState<'none' | 'running' | 'failed'>('none')
  // Reloads the whole dashboard, because a newer version may have been deployed and the browser caches failed imports.
  // First checks that the server responds, because a failed reload would lose the layout as well.
  const retry = () => {
    setAttempt('running')
    send('GET /console/session', {}).then(
      () => window.location.reload(),
      () => setAttempt('failed'),
    )
  }
  return (
    <div className="grid max-w-xl gap-4">
      <Heading text="Bursar can’t be reached" />
      <p className="text-muted">This page could not be loaded. Check your connection, then try again.</p>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button variant="primary" disabled={attempt === 'running'} onClick={retry}>
          Try again
        </Button>
        <span role="status" className="text-muted">
          {attempt === 'running' && 'Trying…'}
          {attempt === 'failed' && 'Bursar still can’t be reached.'}
        </span>
      </p>
    </div>
  )
}

function Heading({ text }: { readonly text: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <>
      <title>{`${text} · Bursar`}</title>
      <h1 ref={heading} tabIndex={-1} className="text-2xl font-bold">
        {text}
      </h1>
    </>
  )
}
