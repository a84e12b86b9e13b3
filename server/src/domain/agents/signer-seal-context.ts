import type { Mode } from '../../values/mode.ts'

/**
 * Returns the context that binds a sealed signer key to its agent, so the key cannot be opened from another agent's
 * row. Such a key signs only under grants of wallets without slots.
 */
export function signerSealContext(accountId: string, mode: Mode, agentId: string): string {
  return JSON.stringify(['agent signer', accountId, mode, agentId])
}
