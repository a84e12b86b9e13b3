import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { createQueryClient } from './api/query-client.ts'
import { watchPresence } from './api/presence.ts'
import { preloadAllPages } from './navigation/page-loader.ts'
import { ROUTES } from './routes.tsx'

const queryClient = createQueryClient()
const router = createBrowserRouter(ROUTES)

export function App() {
  useEffect(watchPresence, [])
  useEffect(preloadPages, [])
  useEffect(() => {
    // A page that the browser kept for "back" may tell what is long over: a session, a request that was answered.
    const refresh = (event: PageTransitionEvent) => {
      if (event.persisted) void queryClient.resetQueries()
    }
    window.addEventListener('pageshow', refresh)
    return () => window.removeEventListener('pageshow', refresh)
  }, [])

  return (
    // The content security policy lets no component write a <style> of its own.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  )
}

/** Once somebody has a page of a workspace before them, the others come: to go to them takes no waiting then. */
function preloadPages(): () => void {
  let isBegun = false
  const look = ({ location, navigation, initialized }: typeof router.state) => {
    if (isBegun || !initialized || navigation.state !== 'idle' || !location.pathname.startsWith('/w/')) return
    isBegun = true
    void preloadAllPages()
  }
  look(router.state)
  return router.subscribe(look)
}
