import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { Superseded } from './use-grant-actions.ts'

/** What was asked of a grant came too late: the agent may go on under another one. */
export function SupersededNotice({ superseded: { by } }: { readonly superseded: Superseded }) {
  const { to } = useWorkspace()
  return (
    <div role="alert">
      <Notice tone="warning">
        <p>
          {by === null ? (
            'It was revoked meanwhile: there is nothing more to end.'
          ) : (
            <>
              Nothing was done: another policy took its place meanwhile, and the agent goes on under that one.{' '}
              <TextLink to={to('grants', by)}>Open the later policy</TextLink>
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
