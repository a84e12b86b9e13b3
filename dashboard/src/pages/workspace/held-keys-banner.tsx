import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { SessionWorkspace } from '@bursar/server/src/console/contract/session.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { pathTo } from '../../navigation/paths.ts'

interface HeldKeysBannerProps {
  readonly workspace: SessionWorkspace
  readonly mode: Mode
}

/** Says that the workspace's API keys do not work until an owner has confirmed them after a restore of the service. */
export function HeldKeysBanner({ workspace, mode }: HeldKeysBannerProps) {
  const mayConfirm = may(workspace.role, 'confirmHeldKeys')
  return (
    <div role="status" className="empty:absolute print:hidden">
      {workspace.has_held_keys && (
        <Notice tone="warning">
          <div className="grid gap-1">
            <p className="font-semibold">API keys are on hold</p>
            <p>
              This service was restored from a backup. Programs that use these API keys cannot pay or read, in test and
              live mode, until an owner of this workspace confirms the keys.
            </p>
            <p>
              <TextLink to={pathTo(workspace.slug, mode, 'developers', 'keys')}>
                {mayConfirm ? 'Check and confirm the keys' : 'See the keys'}
              </TextLink>
            </p>
          </div>
        </Notice>
      )}
    </div>
  )
}
