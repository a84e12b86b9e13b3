import type { Mode } from '../../values/mode.ts'

/** Binds a sealed signer key to its agent: moved to another row it does not open. */
export function signerSealContext(accountId: string, mode: Mode, agentId: string): string {
  return JSON.stringify(['agent signer', accountId, mode, agentId])
}
