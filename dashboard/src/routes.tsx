import type { RouteObject } from 'react-router'
import { Loading } from './components/loading.tsx'
import { RequireSession } from './components/require-session.tsx'
import { SheetLayout } from './components/sheet-layout.tsx'
import { ConsentPage } from './pages/consent/consent-page.tsx'
import { FailurePage } from './pages/failure-page.tsx'
import { InvitationPage } from './pages/invitation-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { RecoverPage } from './pages/recover-page.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'
import { SignUpPage } from './pages/sign-up-page.tsx'

/** The map of the site. The server answers the same paths with the page that loads this (and others with a 404). */
export const ROUTES: RouteObject[] = [
  {
    ErrorBoundary: FailurePage,
    HydrateFallback: Loading,
    children: [
      {
        Component: SheetLayout,
        children: [
          { path: '/sign-in', Component: SignInPage },
          { path: '/sign-up', Component: SignUpPage },
          { path: '/recover', Component: RecoverPage },
          { path: '/invite/:token', Component: InvitationPage },
          { path: '*', Component: NotFoundPage },
        ],
      },
      {
        Component: RequireSession,
        children: [
          { path: '/consent', Component: ConsentPage },
          {
            lazy: { Component: async () => (await import('./components/dashboard-layout.tsx')).DashboardLayout },
            children: [
              { path: '/', lazy: { Component: async () => (await import('./pages/home-page.tsx')).HomePage } },
              {
                path: '/account',
                lazy: { Component: async () => (await import('./pages/account/account-page.tsx')).AccountPage },
              },
              {
                path: '/w/:slug',
                lazy: {
                  Component: async () => (await import('./pages/workspace/workspace-layout.tsx')).WorkspaceLayout,
                },
                children: [
                  {
                    index: true,
                    lazy: { Component: async () => (await import('./pages/workspace/overview-page.tsx')).OverviewPage },
                  },
                  {
                    path: 'connections',
                    lazy: {
                      Component: async () => (await import('./pages/workspace/connections-page.tsx')).ConnectionsPage,
                    },
                  },
                  {
                    path: 'members',
                    lazy: { Component: async () => (await import('./pages/workspace/members-page.tsx')).MembersPage },
                  },
                  {
                    path: 'audit',
                    lazy: { Component: async () => (await import('./pages/workspace/audit-page.tsx')).AuditPage },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
]
