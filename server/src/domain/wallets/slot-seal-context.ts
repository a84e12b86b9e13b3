import type { Mode } from '../../values/mode.ts'

/**
 * Returns the context that binds a slot's sealed key to its slot, so the key cannot be opened from another slot's row.
 */
export function slotSealContext(
  { workspaceId, mode, walletAddress }: { workspaceId: string; mode: Mode; walletAddress: string },
  slot: number,
): string {
  return JSON.stringify(['wallet slot', workspaceId, mode, walletAddress, slot])
}
