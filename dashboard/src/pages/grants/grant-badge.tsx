import type { GrantState } from '@bursar/server/src/console/contract/grants.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'

const TONES: Readonly<Record<GrantState, Tone>> = {
  pending: 'warning',
  active: 'success',
  suspended: 'danger',
  expired: 'danger',
  revoked: 'neutral',
  replaced: 'neutral',
}

export function GrantBadge({ state }: { readonly state: GrantState }) {
  return <StatusBadge tone={TONES[state]}>{GRANT_STATE_LABELS[state]}</StatusBadge>
}
