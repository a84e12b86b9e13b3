import type { RouteObject } from 'react-router'
import { RequireSession } from './components/require-session.tsx'
import { StartFallback } from './components/start-fallback.tsx'
import { CenteredCardLayout } from './components/centered-card-layout.tsx'
import { registerLoader } from './navigation/page-loader.ts'
import { FailurePage, PageFailure } from './pages/failure-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'

/**
 * The pages of a workspace. In the URL, their paths follow the slug and the mode. The code of a page is loaded when the
 * page is first opened.
 */
const WORKSPACE_PAGES: RouteObject[] = [
  page('', async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage),
  page('payments', async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage),
  page('payments/:id', async () => (await import('./pages/payments/payment-page.tsx')).PaymentPage),
  page('refusals/:id', async () => (await import('./pages/payments/refusal-page.tsx')).RefusalPage),
  page('agents', async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage),
  page('agents/:id', async () => (await import('./pages/agents/agent-page.tsx')).AgentPage),
  page('wallets', async () => (await import('./pages/wallets/wallets-page.tsx')).WalletsPage),
  page('wallets/:address', async () => (await import('./pages/wallets/wallet-page.tsx')).WalletPage),
  page('wallets/:address/withdraw', async () => (await import('./pages/wallets/withdraw-page.tsx')).WithdrawPage),
  page('grants', async () => (await import('./pages/grants/grants-page.tsx')).GrantsPage),
  page('grants/new', async () => (await import('./pages/grants/new-grant-page.tsx')).NewGrantPage),
  page('grants/:id', async () => (await import('./pages/grants/grant-page.tsx')).GrantPage),
  page('grants/:id/replace', async () => (await import('./pages/grants/replace-grant-page.tsx')).ReplaceGrantPage),
  page('stop', async () => (await import('./pages/workspace/stop-page.tsx')).StopPage),
  page('statements', async () => (await import('./pages/statements/statements-page.tsx')).StatementsPage),
  page('statements/:address/:month', async () => (await import('./pages/statements/statement-page.tsx')).StatementPage),
  page('recipients', async () => (await import('./pages/recipients/recipients-page.tsx')).RecipientsPage),
  page('developers/keys', async () => (await import('./pages/developers/keys-page.tsx')).KeysPage),
  page('developers/webhooks', async () => (await import('./pages/developers/webhooks-page.tsx')).WebhooksPage),
  page('developers/webhooks/:id', async () => (await import('./pages/developers/webhook-page.tsx')).WebhookPage),
  page('developers/events', async () => (await import('./pages/developers/events-page.tsx')).EventsPage),
  page('developers/events/:id', async () => (await import('./pages/developers/event-page.tsx')).EventPage),
  page('developers/deliveries/:id', async () => (await import('./pages/developers/delivery-page.tsx')).DeliveryPage),
  page('developers/connections', async () => (await import('./pages/developers/connections-page.tsx')).ConnectionsPage),
  page('developers/examples', async () => (await import('./pages/developers/examples-page.tsx')).ExamplesPage),
  page('members', async () => (await import('./pages/workspace/members-page.tsx')).MembersPage),
  page('settings', async () => (await import('./pages/workspace/settings-page.tsx')).SettingsPage),
  page('plan', async () => (await import('./pages/workspace/plan-page.tsx')).PlanPage),
  page('audit', async () => (await import('./pages/workspace/audit-page.tsx')).AuditPage),
  { path: '*', Component: NotFoundPage },
]

/** All routes. The server serves index.html for the same paths, and a 404 for others. */
export const ROUTES: RouteObject[] = [
  {
    ErrorBoundary: FailurePage,
    HydrateFallback: StartFallback,
    children: [
      {
        Component: CenteredCardLayout,
        children: [
          { path: '/sign-in', Component: SignInPage },
          page('/sign-up', async () => (await import('./pages/sign-up-page.tsx')).SignUpPage),
          page('/recover', async () => (await import('./pages/recover-page.tsx')).RecoverPage),
          page('/invite/:token', async () => (await import('./pages/invitation-page.tsx')).InvitationPage),
          { path: '*', Component: NotFoundPage },
        ],
      },
      {
        Component: RequireSession,
        children: [
          page('/consent', async () => (await import('./pages/consent/consent-page.tsx')).ConsentPage),
          {
            lazy: {
              Component: registerLoader(async () => (await import('./components/app-shell-layout.tsx')).AppShellLayout),
            },
            children: [
              {
                ErrorBoundary: PageFailure,
                children: [
                  page('/', async () => (await import('./pages/home-page.tsx')).HomePage),
                  page('/account', async () => (await import('./pages/account/account-page.tsx')).AccountPage),
                ],
              },
            ],
          },
          {
            path: '/w/:slug',
            lazy: {
              Component: registerLoader(
                async () => (await import('./pages/workspace/workspace-layout.tsx')).WorkspaceLayout,
              ),
            },
            // If a page fails, the layout around it is still shown.
            children: [
              { path: ':mode', ErrorBoundary: PageFailure, children: WORKSPACE_PAGES },
              { index: true },
              { path: '*' },
            ],
          },
        ],
      },
    ],
  },
]

function page(path: string, load: () => Promise<NonNullable<RouteObject['Component']>>): RouteObject {
  const lazy = { Component: registerLoader(load) }
  return path === '' ? { index: true, lazy } : { path, lazy }
}
