import { Outlet } from 'react-router'
import { AppShell } from './app-shell.tsx'

export function AppShellLayout() {
  return (
    <AppShell>
      <Outlet />
    </AppShell>
  )
}
