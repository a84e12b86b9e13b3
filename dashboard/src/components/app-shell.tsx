import type { ReactNode } from 'react'
import { ScrollRestoration, useLocation } from 'react-router'
import { readLastSlug } from '../navigation/last-visit.ts'
import { NavigationProgress } from './navigation-progress.tsx'
import { UserMenu } from './user-menu.tsx'
import { useSession } from './session-context.ts'
import { SkipLink } from './skip-link.tsx'
import { TextLink } from './text-link.tsx'
import { Wordmark } from './wordmark.tsx'

const MAIN_ID = 'main'

/** The header and main area of pages that belong to no workspace, for signed-in users. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <SkipLink to={MAIN_ID} />
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex w-full max-w-4xl items-center justify-between gap-4 px-4 py-2 sm:px-6">
          <span className="shrink-0">
            <Wordmark />
          </span>
          <UserMenu />
        </div>
        <NavigationProgress />
      </header>
      <main
        id={MAIN_ID}
        tabIndex={-1}
        className="mx-auto grid w-full max-w-4xl gap-8 px-4 py-8 outline-none sm:px-6 sm:py-10"
      >
        <BackLink />
        {children}
      </main>
      <ScrollRestoration />
    </>
  )
}

/** Links to the last visited workspace, if the user is still a member. Not shown on the list of all workspaces. */
function BackLink() {
  const { pathname } = useLocation()
  const slug = readLastSlug()
  const workspace = useSession().workspaces.find((candidate) => candidate.slug === slug)
  if (pathname === '/' || workspace === undefined) return null
  return (
    <p className="-mb-4 min-w-0 truncate text-sm">
      <TextLink to={`/w/${encodeURIComponent(workspace.slug)}`}>Back to {workspace.name}</TextLink>
    </p>
  )
}
