import { useEffect, useRef, useState } from 'react'
import { useRouteError } from 'react-router'
import { send } from '../api/send.ts'
import { Button } from '../components/button.tsx'
import { PageNotLoadedError } from '../navigation/page-loader.ts'

/** When the application itself fails. It leans on nothing that could fail too. */
export function FailurePage() {
  return (
    <main className="mx-auto grid w-full max-w-xl p-6">
      <PageFailure />
    </main>
  )
}

/** In the place of a page that could not be loaded, or that broke. What is around it still stands. */
export function PageFailure() {
  return useRouteError() instanceof PageNotLoadedError ? <NotLoaded /> : <Broken />
}

function Broken() {
  return (
    <div className="grid max-w-xl gap-4">
      <Heading text="Something broke on this page" />
      <p className="text-muted">
        Nothing was sent. Load the page again; if that does not help, tell whoever runs Bursar.
      </p>
      <p>
        <Button variant="primary" onClick={() => window.location.reload()}>
          Load again
        </Button>
      </p>
    </div>
  )
}

function NotLoaded() {
  const [attempt, setAttempt] = useState<'none' | 'running' | 'failed'>('none')
  // Loaded anew, not only the page's own part: there may be a newer Bursar by now, and a browser may keep a failure. But
  // not before Bursar answers: the reload would leave nothing standing.
  const retry = () => {
    setAttempt('running')
    send('GET', '/console/session').then(
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
          {attempt === 'failed' && 'Still no answer.'}
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
