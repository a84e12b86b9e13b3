import { useLocation } from 'react-router'
import type { SignInState } from '../components/require-session.tsx'

/** Explains why the user has to sign in. */
export function SignInReason({ next }: { readonly next: string }) {
  const state = useLocation().state as SignInState | null
  if (state?.hasEnded === true) return 'Your session has ended. Sign in to continue.'
  if (next.startsWith('/consent?')) return 'An application wants to act for you. Sign in to review its request.'
  if (next.startsWith('/invite/')) return 'You have been invited to a workspace. Sign in to accept.'
  if (next.startsWith('/w/')) return 'You are not signed in, or your session has ended. Sign in to continue.'
  return 'Sign in with your fingerprint, face or PIN. There is no password.'
}
