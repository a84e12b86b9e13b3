import { useEffect, useRef } from 'react'
import type { Grant } from '../../api/wire-spending.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { GRANT_STATE_LABELS } from '../../format/grant-state-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface DeletionBlockedNoticeProps {
  readonly grants: readonly Grant[]
  /** It answers an attempt: it comes into view, and takes the focus. */
  readonly isAnswer: boolean
}

/** Why an agent can't be deleted: what is granted ends by the owner's signature, not by the agent's going. */
export function DeletionBlockedNotice({ grants, isAnswer }: DeletionBlockedNoticeProps) {
  const { to } = useWorkspace()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isAnswer) place.current?.focus()
  }, [isAnswer])
  const isOne = grants.length === 1
  return (
    <div ref={place} tabIndex={-1} role={isAnswer ? 'alert' : undefined}>
      <Notice>
        <p className="font-semibold">An agent that has {isOne ? 'a grant' : 'grants'} can’t be deleted.</p>
        {grants.some(({ status }) => status === 'active') && (
          <p>Revoke {isOne ? 'it' : 'them'} first, which takes the signature of the wallet’s owner.</p>
        )}
        {grants.some(({ status }) => status === 'pending') && (
          <p>{isOne ? 'It waits' : 'One that waits'} for a signature: it can be discarded without one.</p>
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
