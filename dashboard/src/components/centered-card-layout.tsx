import { Outlet, ScrollRestoration } from 'react-router'
import { CenteredCard } from './centered-card.tsx'

/** Signing in, an invitation, a page that is not there. */
export function CenteredCardLayout() {
  return (
    <>
      <CenteredCard>
        <Outlet />
      </CenteredCard>
      <ScrollRestoration />
    </>
  )
}
