import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { grantsQuery } from '../../api/queries.ts'
import { liveKey } from '../../api/query-key.ts'
import { createGrant, signGrant } from '../../api/grants.ts'
import { Button } from '../../components/button.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { useNow } from '../../components/use-now.ts'
import { listEndedByMove } from '../../format/ended-grants.ts'
import { canSign, isOwnedByMe } from '../../format/owner-text.ts'
import { isAdmin } from '../../format/roles.ts'
import { SignerStatus } from '../../components/signer-status.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { GrantSentence, toSentenceValues } from '../grants/grant-sentence.tsx'
import { nameRecipients } from '../grants/name-recipients.ts'
import { useRecipients } from '../grants/use-recipients.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { useSignedWallet } from '../grants/use-signed-wallet.ts'

const CLOCK_STEP_MS = 60_000

/** The grants that ended when the wallet was moved. For each one, a button creates a new grant with the same terms. */
export function ReopenSection({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode, role } = useWorkspace()
  const client = useQueryClient()
  const { list: recipients } = useRecipients()
  const { data: grants = [] } = useQuery(grantsQuery(slug, mode, { wallet: wallet.address }))
  const ended = listEndedByMove(grants, wallet.owners, useNow(CLOCK_STEP_MS))
  const signed = useSignedWallet()(wallet)
  const opening = useSigner({
    run: async (signer, grant: Grant) => {
      const { agent_id, max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, expires_at, x402 } = grant
      const terms = { max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, expires_at, x402 }
      const { id } = await createGrant(slug, { mode, agent_id, wallet: wallet.address, ...terms })
      const addressNames = nameRecipients(recipient_allowlist, recipients)
      const claims = { ...signed.claims, agentName: agent_id, addressNames }
      return await signGrant(signer, { ...signed, claims }, { id, change: 'activate' })
    },
    onSettled: () => client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
  })
  if (ended.length === 0) return <SignerStatus signer={opening} />
  return (
    <Section
      title="Grants that ended with the move"
      lead={
        canSign(wallet)
          ? 'You can create each grant again with the same terms. You sign each new grant.'
          : isOwnedByMe(wallet)
            ? 'Once the wallet is confirmed, you can create each grant again with the same terms. You sign each new grant.'
            : 'An owner of the wallet can create each grant again with the same terms.'
      }
    >
      <List>
        {ended.map((grant) => (
          <ListItem
            key={grant.id}
            actions={
              isAdmin(role) &&
              canSign(wallet) && (
                <Button
                  aria-label={`Create again: ${grant.agent_id}`}
                  disabled={opening.isPending}
                  onClick={() => opening.start(grant)}
                >
                  Create again
                </Button>
              )
            }
          >
            <GrantSentence values={toSentenceValues(grant, recipients)} />
          </ListItem>
        ))}
      </List>
      <SignerStatus signer={opening} />
    </Section>
  )
}
