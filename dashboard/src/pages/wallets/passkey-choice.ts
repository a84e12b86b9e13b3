import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { WalletPasskey } from '@bursar/server/src/console/contract/wallet-passkeys.ts'
import { walletPasskeysQuery } from '../../api/queries.ts'
import { createWalletPasskey } from '../../api/wallet-passkeys.ts'
import type { SignerWindow } from '../../signer/signer-window.ts'

export interface PasskeyChoice {
  readonly passkeys: readonly WalletPasskey[]
  /** The chosen passkey. Null if a new one will be created, with the name `newName`. */
  readonly credentialId: string | null
  readonly newName: string
  readonly isComplete: boolean
  readonly choose: (credentialId: string | null) => void
  readonly setNewName: (name: string) => void
  /** Returns the chosen passkey. Creates it in the signer window if it is a new one. */
  readonly resolve: (signer: SignerWindow) => Promise<string>
}

/** The choice of a wallet passkey: one that the user has, or a new one. */
export function usePasskeyChoice(passkeys: readonly WalletPasskey[]): PasskeyChoice {
  const client = useQueryClient()
  const [credentialId, choose] = useState<string | null>(passkeys[0]?.credential_id ?? null)
  const [newName, setNewName] = useState('')
  return {
    passkeys,
    credentialId,
    newName,
    isComplete: credentialId !== null || newName.trim() !== '',
    choose,
    setNewName,
    resolve: async (signer) => {
      if (credentialId !== null) return credentialId
      const created = await createWalletPasskey(signer, newName.trim())
      await client.invalidateQueries({ queryKey: walletPasskeysQuery.queryKey })
      // If a later step fails, the next attempt uses the passkey that was just created.
      choose(created.credential_id)
      return created.credential_id
    },
  }
}
