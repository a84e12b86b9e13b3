import { useEffect, useRef } from 'react'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface DeletionBlockedNoticeProps {
  readonly grants: readonly Grant[]
  /** Whether the notice takes the focus. True if the user has just tried to delete the agent. */
  readonly takesFocus: boolean
}

/**
 * Explains why an agent can't be deleted: a signed grant ends only with the owner's signature, not by deleting its
 * agent.
 */
export function DeletionBlockedNotice({ grants, takesFocus }: DeletionBlockedNoticeProps) {
  const { to } = useWorkspace()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (takesFocus) place.current?.focus()
  }, [takesFocus])
  const isOne = grants.length === 1
  return (
    <div ref={place} tabIndex={-1} role={takesFocus ? 'alert' : undefined}>
      <Notice>
        <p className="font-semibold">This agent can’t be deleted because it has {isOne ? 'a grant' : 'grants'}.</p>
        {grants.some(({ status }) => status === 'active') && (
          <p>Revoke {isOne ? 'it' : 'them'} first. This needs the signature of the wallet’s owner.</p>
        )}
        {grants.some(({ status }) => status === 'pending') && (
          <p>
            {isOne
              ? 'The grant is awaiting signature. You can discard it without a signature.'
              : 'Some grants are awaiting signature. You can discard these without signing.'}
          </p>
        )}
        <ul className="list-disc pl-5">
          {grants.map(({ id, wallet_name, state }) => (
            <li key={id}>
              <TextLink to={to('grants', id)}>Grant on {wallet_name}</TextLink> (
              {GRANT_STATE_LABELS[state].toLowerCase()})
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  )
}
