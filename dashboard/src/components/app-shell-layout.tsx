import { Outlet } from 'react-router'
import { PlainFrame } from './app-shell.tsx'

export function DashboardLayout() {
  return (
    <PlainFrame>
      <Outlet />
    </PlainFrame>
  )
}
