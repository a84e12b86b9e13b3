import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { Superseded } from './use-grant-actions.ts'

/**
 * Shown if the grant ended before the user could suspend or revoke it. The agent may still be able to pay under another
 * grant.
 */
export function SupersededNotice({ superseded: { by } }: { readonly superseded: Superseded }) {
  const { to } = useWorkspace()
  return (
    <div role="alert">
      <Notice tone="warning">
        <p>
          {by === null ? (
            'This grant has been revoked meanwhile. No further action is needed.'
          ) : (
            <>
              Nothing was changed, because this grant has been replaced meanwhile. The agent can still pay under the
              newer grant. <TextLink to={to('grants', by)}>Open the newer grant</TextLink>
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
