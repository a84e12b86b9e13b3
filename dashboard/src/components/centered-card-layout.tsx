import { Outlet, ScrollRestoration } from 'react-router'
import { CenteredCard } from './centered-card.tsx'

/** The layout of sign-in, sign-up, invitations and the not-found page. */
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
