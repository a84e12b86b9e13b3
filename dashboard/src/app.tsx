import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { createQueryClient } from './api/query-client.ts'
import { watchPresence } from './api/presence.ts'
import { sessionQuery } from './api/session.ts'
import { preloadAllPages } from './navigation/page-loader.ts'
import { ROUTES } from './routes.tsx'

const queryClient = createQueryClient()
// Asked for at once, because it arrives while the code of the first page is still loading.
void queryClient.prefetchQuery(sessionQuery)
const router = createBrowserRouter(ROUTES)

export function App() {
  useEffect(watchPresence, [])
  useEffect(preloadPages, [])
  useEffect(() => {
    // A page restored from the back/forward cache may be outdated: the session or a consent request may have ended.
    const refresh = (event: PageTransitionEvent) => {
      if (event.persisted) void queryClient.resetQueries()
    }
    window.addEventListener('pageshow', refresh)
    return () => window.removeEventListener('pageshow', refresh)
  }, [])

  return (
    // The Content Security Policy forbids inline <style> elements.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  )
}

/** Once a page of a workspace is shown, preloads the code of all other pages, so that opening them is instant. */
function preloadPages(): () => void {
  let hasStarted = false
  const startWhenIdle = ({ location, navigation, initialized }: typeof router.state) => {
    if (hasStarted || !initialized || navigation.state !== 'idle' || !location.pathname.startsWith('/w/')) return
    hasStarted = true
    void preloadAllPages()
  }
  startWhenIdle(router.state)
  return router.subscribe(startWhenIdle)
}
