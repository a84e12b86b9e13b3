import type { KeysLeftBehind } from '@bursar/server/src/console/contract/members.ts'
import { Notice } from '../../components/notice.tsx'

/** What happened to a member who was removed or became a viewer, and to the API keys that they had created. */
export interface Departure {
  readonly name: string
  readonly kind: 'removed' | 'viewer'
  readonly keys: KeysLeftBehind
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
          </div>
        </Notice>
      )}
    </div>
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
