import type { Store } from './store.ts'

const PREFIX = 'wallet-passkey:'

/** Returns whether a passkey with this public key (base64 SPKI) was created or used in this browser before. */
export function isRememberedKey(store: Store, publicKey: string): boolean {
  return store.getItem(PREFIX + publicKey) !== null
}

/** To be called only for a passkey that was created here, or whose signature was verified. */
export function rememberKey(store: Store, publicKey: string): void {
  store.setItem(PREFIX + publicKey, 'yes')
}
