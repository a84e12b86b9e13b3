import { Outlet, ScrollRestoration } from 'react-router'
import { PersonMenu } from './person-menu.tsx'
import { Wordmark } from './wordmark.tsx'

const MAIN_ID = 'main'

export function DashboardLayout() {
  return (
    <>
      <a
        href={`#${MAIN_ID}`}
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-10 focus:rounded-lg focus:bg-surface focus:px-4 focus:py-3 focus:font-semibold"
      >
        Skip to the content
      </a>
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex w-full max-w-4xl items-center justify-between gap-4 px-4 py-2 sm:px-6">
          <Wordmark />
          <PersonMenu />
        </div>
      </header>
      <main
        id={MAIN_ID}
        tabIndex={-1}
        className="mx-auto grid w-full max-w-4xl gap-8 px-4 py-8 outline-none sm:px-6 sm:py-10"
      >
        <Outlet />
      </main>
      <ScrollRestoration />
    </>
  )
}
