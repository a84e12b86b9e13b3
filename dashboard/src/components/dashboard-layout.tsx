import { Outlet } from 'react-router'
import { PlainFrame } from './plain-frame.tsx'

export function DashboardLayout() {
  return (
    <PlainFrame>
      <Outlet />
    </PlainFrame>
  )
}
