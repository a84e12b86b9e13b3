import type { Mode } from '../../values/mode.ts'

/**
 * Returns the context that binds a sealed signer key to its agent, so the key cannot be opened from another agent's
 * row. Only grants of wallets without slots are signed for with such a key.
 */
export function signerSealContext(accountId: string, mode: Mode, agentId: string): string {
  return JSON.stringify(['agent signer', accountId, mode, agentId])
}
