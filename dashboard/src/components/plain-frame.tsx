import type { ReactNode } from 'react'
import { ScrollRestoration } from 'react-router'
import { PersonMenu } from './person-menu.tsx'
import { SkipLink } from './skip-link.tsx'
import { Wordmark } from './wordmark.tsx'

const MAIN_ID = 'main'

/** Around the pages of a signed-in person that belong to no workspace. */
export function PlainFrame({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <SkipLink to={MAIN_ID} />
      <header className="border-b border-line bg-surface">
        <div className="flex items-center justify-between gap-4 px-4 py-2 sm:px-6">
          <Wordmark />
          <PersonMenu />
        </div>
      </header>
      <main
        id={MAIN_ID}
        tabIndex={-1}
        className="mx-auto grid w-full max-w-4xl gap-8 px-4 py-8 outline-none sm:px-6 sm:py-10"
      >
        {children}
      </main>
      <ScrollRestoration />
    </>
  )
}
