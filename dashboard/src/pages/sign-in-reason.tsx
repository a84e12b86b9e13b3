import { useLocation } from 'react-router'
import type { SignInState } from '../components/require-session.tsx'

/** Says why one is asked to sign in, where it is for more than the dashboard. */
export function SignInReason({ next }: { readonly next: string }) {
  const state = useLocation().state as SignInState | null
  if (state?.hasEnded === true) return 'Your session ended. Sign in to go on.'
  if (next.startsWith('/consent?')) return 'An application asks to act for you. First say who you are; then you decide.'
  if (next.startsWith('/invite/')) return 'You are invited to a workspace. First say who you are.'
  if (next.startsWith('/w/')) return 'You are not signed in, or your session ended. Sign in to go on.'
  return 'Your device knows you by fingerprint, face or code. There is no password.'
}
