import { createSoftwarePasskey, restoreSoftwarePasskey, type SoftwarePasskey } from '../passkey/software-passkey.ts'
import type { World } from './world.ts'

/** The passkey of a workspace's owner, made when it is first needed. */
export function ownerOf({ state, context }: Pick<World, 'state' | 'context'>, slug: string): SoftwarePasskey {
  const { id: rpId, origin } = context.relyingParty
  const stored = state.current.owners[slug]
  // The ports may be others than when it was made.
  if (stored !== undefined) return restoreSoftwarePasskey({ ...stored, rpId, origin })
  const passkey = createSoftwarePasskey({ rpId, origin })
  state.update({ owners: { ...state.current.owners, [slug]: passkey.export() } })
  return passkey
}
