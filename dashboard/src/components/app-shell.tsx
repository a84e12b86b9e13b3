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

/** Around the pages of a signed-in person that belong to no workspace. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <SkipLink to={MAIN_ID} />
      <header className="border-b border-line bg-surface">
        <div className="flex items-center justify-between gap-4 px-4 py-2 sm:px-6">
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
        <WayBack />
        {children}
      </main>
      <ScrollRestoration />
    </>
  )
}

/** To the workspace that one comes from, where one still belongs to it. The list of them all needs no such link. */
function WayBack() {
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
