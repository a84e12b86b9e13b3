/** Says why one is asked to sign in, where it is for more than the dashboard. */
export function NextNotice({ next }: { readonly next: string }) {
  if (next.startsWith('/consent?')) return 'An application asks to act for you. First say who you are; then you decide.'
  if (next.startsWith('/invite/')) return 'You are invited to a workspace. First say who you are.'
  return 'Your device knows you by fingerprint, face or code. There is no password.'
}
