import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { saveText } from '../../api/download.ts'
import { ownerKeysQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatPem } from '../../format/pem.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The public keys of a wallet's owners. An auditor needs them, from somebody they trust, to verify evidence. */
export function OwnerKeys({ wallet }: { readonly wallet: Wallet }) {
  const [isOpen, setOpen] = useState(false)
  if (!isOpen) {
    return (
      <p>
        <Button variant="quiet" onClick={() => setOpen(true)}>
          Show public keys
        </Button>
      </p>
    )
  }
  return <KeyList wallet={wallet} />
}

function KeyList({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const { data: keys, error, refetch } = useQuery(ownerKeysQuery(slug, mode, wallet.address))
  return (
    <div className="grid gap-3">
      <p className="text-sm text-muted">
        An auditor needs the public key of the owner to verify the evidence of a payment. It is no secret. Hand it over
        in another way than the evidence.
      </p>
      {keys === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={2} />
      ) : (
        <List>
          {keys.map(({ credentialId, name, publicKey, fingerprint }) => (
            <ListItem
              key={credentialId}
              actions={
                <Button onClick={() => saveText(formatPem(publicKey), `owner-${fingerprint.slice(0, 8)}.pem`)}>
                  Download public key
                </Button>
              }
            >
              <p>
                <bdi className="font-semibold">{name}</bdi>
              </p>
              <p className="text-sm text-muted">
                Fingerprint (SHA-256) <CodeText text={fingerprint} what="the fingerprint" />
              </p>
            </ListItem>
          ))}
        </List>
      )}
    </div>
  )
}
