import { Outlet, ScrollRestoration } from 'react-router'
import { Sheet } from './centered-card.tsx'

/** Signing in, an invitation, a page that is not there. */
export function SheetLayout() {
  return (
    <>
      <Sheet>
        <Outlet />
      </Sheet>
      <ScrollRestoration />
    </>
  )
}
