import { useEffect, useState } from 'react'
import { Link, Navigate, Outlet, ScrollRestoration, useLocation, useParams } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { SessionWorkspace } from '@bursar/server/src/console/contract/session.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useLiveChanges } from '../../api/changes.ts'
import { ModeBanner, ModeSwitch } from '../../components/mode-switch.tsx'
import { NavigationProgress } from '../../components/navigation-progress.tsx'
import { UserMenu } from '../../components/user-menu.tsx'
import { AppShell } from '../../components/app-shell.tsx'
import { useSession } from '../../components/session-context.ts'
import { SkipLink } from '../../components/skip-link.tsx'
import { Wordmark } from '../../components/wordmark.tsx'
import { readLastMode, saveLastVisit } from '../../navigation/last-visit.ts'
import { isMode, pathTo } from '../../navigation/paths.ts'
import { ROLE_TEXTS } from '../../format/roles.ts'
import { CommandPalette } from './command-palette.tsx'
import { HeaderStop } from './header-stop.tsx'
import { HeldKeysBanner } from './held-keys-banner.tsx'
import { MissingWorkspace } from './missing-workspace.tsx'
import { MobileMenu } from './mobile-menu.tsx'
import { OutageBanner } from './outage-banner.tsx'
import { StopsBanner } from './stops-banner.tsx'
import { WorkspaceNavigation } from './workspace-navigation.tsx'

/** The layout of all pages of a workspace. The mode is part of the URL, so that a link always opens the right mode. */
export function WorkspaceLayout() {
  const { slug = '', mode } = useParams()
  const { pathname, search } = useLocation()
  const workspace = useSession().workspaces.find((candidate) => candidate.slug === slug)
  const [last, setLast] = useState(workspace)
  if (workspace !== undefined && workspace !== last) setLast(workspace)
  if (workspace === undefined) {
    return (
      <AppShell>
        <MissingWorkspace slug={slug} formerName={last?.slug === slug ? last.name : null} />
      </AppShell>
    )
  }
  if (isMode(mode)) return <WorkspaceShell workspace={workspace} mode={mode} />
  // A URL without a mode opens in the mode of the last visit.
  const [, , , ...parts] = pathname.split('/').filter((part, index) => index < 3 || part !== '')
  return <Navigate to={[pathTo(slug, readLastMode(slug)), ...parts].join('/') + search} replace />
}

const MAIN_ID = 'main'

function WorkspaceShell({ workspace, mode }: { readonly workspace: SessionWorkspace; readonly mode: Mode }) {
  const { slug, name } = workspace
  useEffect(() => saveLastVisit(slug, mode), [slug, mode])
  const isConnected = useLiveChanges(slug, mode)
  return (
    <>
      <SkipLink to={MAIN_ID} />
      <header className="sticky top-0 z-10 bg-surface print:hidden">
        <div className="mx-auto flex w-full max-w-[88rem] items-center gap-3 px-4 py-2 sm:px-6">
          <MobileMenu workspace={workspace} mode={mode} />
          <span className="hidden sm:block">
            <Wordmark />
          </span>
          <span className="hidden min-w-0 flex-1 items-center gap-3 md:flex">
            <span aria-hidden="true" className="h-5 border-l border-line" />
            <Link
              to={pathTo(slug, mode)}
              title={name}
              className="truncate rounded-md py-1 font-semibold hover:underline focus-visible:-outline-offset-2"
            >
              {name}
            </Link>
          </span>
          <span className="flex min-w-0 flex-1 items-center justify-end gap-2 sm:gap-3 md:flex-none">
            <CommandPalette workspace={workspace} mode={mode} />
            <ModeSwitch slug={slug} mode={mode} />
            {may(workspace.role, 'manageGrants') && <HeaderStop slug={slug} mode={mode} />}
            <UserMenu />
          </span>
        </div>
        <ModeBanner mode={mode} isConnected={isConnected} />
        <NavigationProgress />
      </header>
      <div className="mx-auto grid w-full max-w-[88rem] lg:grid-cols-[15rem_minmax(0,1fr)] print:block">
        <nav
          aria-label={`Workspace ${name}`}
          className="sticky top-23 hidden max-h-[calc(100dvh-5.75rem)] self-start overflow-y-auto px-3 py-6 lg:block print:hidden"
        >
          <WorkspaceNavigation workspace={workspace} mode={mode} />
          <p className="mx-3 mt-5 border-t border-line pt-4 text-sm text-muted">
            Your role: {ROLE_TEXTS[workspace.role].title.toLowerCase()}
          </p>
        </nav>
        <main
          id={MAIN_ID}
          tabIndex={-1}
          className="grid min-w-0 content-start gap-8 px-4 py-7 outline-none sm:px-6 sm:py-9 lg:min-h-[calc(100dvh-5.75rem)] lg:border-l lg:border-line lg:px-10 print:border-0 print:p-0"
        >
          <StopsBanner workspace={workspace} mode={mode} />
          <HeldKeysBanner workspace={workspace} mode={mode} />
          <OutageBanner slug={slug} mode={mode} />
          {/* The key resets all state when the mode changes. */}
          <Outlet key={mode} context={{ ...workspace, mode }} />
        </main>
      </div>
      <ScrollRestoration />
    </>
  )
}
