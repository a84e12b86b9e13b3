import type { Belongings, KeysLeftBehind } from '@bursar/server/src/console/contract/members.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { formatSigners } from '../../format/owner-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { useWorkspace } from './use-workspace.ts'

/** What happened to a member who was removed or became a viewer, and to the API keys that they had created. */
export interface Departure {
  readonly userId: string
  readonly name: string
  readonly kind: 'removed' | 'viewer'
  readonly keys: KeysLeftBehind
  /** The grants that still wait for a signature, and that the member prepared or could sign. */
  readonly grants: Belongings['grants']
}

/** Says which keys stopped working and which were kept, after a member was removed or became a viewer. */
export function DepartureNotice({ departure }: { readonly departure: Departure | null }) {
  return (
    <div role="status" className="empty:absolute">
      {departure !== null && (
        <Notice>
          <div className="grid gap-1">
            <p className="font-semibold">
              {departure.name} {departure.kind === 'removed' ? 'was removed.' : 'is now a viewer.'}
            </p>
            <KeyNames label="Revoked API keys" keys={departure.keys.keys_revoked} />
            <KeyNames label="Kept API keys" keys={departure.keys.keys_kept} />
            <WaitingGrants grants={departure.grants} />
            <DeedsLink departure={departure} />
          </div>
        </Notice>
      )}
    </div>
  )
}

/** A link to what the person did. The filter of the audit log offers members only. */
function DeedsLink({ departure: { userId, name } }: { readonly departure: Departure }) {
  const { to } = useWorkspace()
  return (
    <p>
      <TextLink to={`${to('audit')}?${new URLSearchParams({ actor: userId })}`}>
        See everything that {name} did
      </TextLink>
    </p>
  )
}

function WaitingGrants({ grants }: Pick<Departure, 'grants'>) {
  const { slug } = useWorkspace()
  if (grants.length === 0) return null
  return (
    <>
      <p>Still waiting for a signature. Sign or discard:</p>
      <ul className="list-disc pl-5">
        {grants.map((grant) => (
          <li key={grant.id}>
            <TextLink to={pathTo(slug, grant.mode, 'grants', grant.id)}>
              {grant.agent_id} on {grant.wallet_name}
            </TextLink>{' '}
            ({grant.mode}).{' '}
            {grant.other_signers.length === 0 ? 'Nobody can sign it.' : formatSigners(grant.other_signers)}
          </li>
        ))}
      </ul>
    </>
  )
}

function KeyNames({ label, keys }: { readonly label: string; readonly keys: KeysLeftBehind['keys_revoked'] }) {
  if (keys.length === 0) return null
  const names = keys.map(({ name, mode, last4 }) => `${name} (${mode}, …${last4})`)
  return (
    <p>
      {label}: {names.join(', ')}
    </p>
  )
}
