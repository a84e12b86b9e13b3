import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { grantQuery } from '../../api/queries.ts'
import { ApiError, hasCode } from '../../api/api-error.ts'
import { formatAmount } from '../../format/amount.ts'
import { liveKey } from '../../api/query-key.ts'
import { discardGrant, signGrant, suspendGrant, type GrantChange } from '../../api/grants.ts'
import { resumeGrant } from '../../api/stops.ts'
import { useSigner } from '../../components/use-signer.ts'
import { useSignedWallet } from './use-signed-wallet.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { nameRecipients } from './name-recipients.ts'

/** Says that the grant ended before the user could suspend or revoke it. */
export interface Superseded {
  /** The ID of the grant that replaced it, or null if it was revoked. */
  readonly by: string | null
}

/** The actions on a grant. All of them refresh the data of the page, even if they fail. */
export function useGrantActions(grant: Grant, recipients: readonly Recipient[]) {
  const { id, agent_id, wallet, wallet_name, recipient_allowlist, daily_cap_usdc, replaces } = grant
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const { data: old } = useQuery({ ...grantQuery(slug, mode, replaces ?? ''), enabled: replaces !== null })
  const store = (changed: Grant) => client.setQueryData(grantQuery(slug, mode, id).queryKey, changed)
  // Another user may have changed the grant meanwhile.
  const refresh = () => client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  const [superseded, setSuperseded] = useState<Superseded | null>(null)
  const endWith = async (action: () => Promise<Grant>): Promise<Grant | null> => {
    try {
      const changed = await action()
      store(changed)
      return changed
    } catch (error) {
      if (!hasCode(error, 'grant_revoked')) throw error
      setSuperseded({ by: readReplacement(error) })
      return null
    } finally {
      await refresh()
    }
  }

  const signedWallet = useSignedWallet()({ address: wallet, name: wallet_name })
  const claims = {
    ...signedWallet.claims,
    agentName: agent_id,
    dailyLimit: `${formatAmount(daily_cap_usdc)} USDC`,
    dailyLimitBefore: old === undefined ? null : `${formatAmount(old.daily_cap_usdc)} USDC`,
    addressNames: nameRecipients(recipient_allowlist, recipients),
  }
  const walletNames = { [wallet.toLowerCase()]: wallet_name }
  const signature = useSigner({
    run: (signer, change: GrantChange | 'resume') => {
      if (change === 'resume')
        return resumeGrant(signer, { slug, id, claims: { ...claims, addressNames: walletNames } })
      const sign = () => signGrant(signer, { ...signedWallet, claims }, { id, change })
      return change === 'revoke' ? endWith(sign) : sign()
    },
    onSuccess: (changed) => changed !== null && store(changed),
    onSettled: refresh,
  })
  return {
    signature,
    superseded,
    discard: () => endWith(() => discardGrant(slug, id)),
    suspend: () => endWith(() => suspendGrant(slug, id)),
  }
}

function readReplacement(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null
  const { details } = error
  if (typeof details !== 'object' || details === null || !('replaced_by' in details)) return null
  return typeof details.replaced_by === 'string' ? details.replaced_by : null
}
