import { useQueryClient } from '@tanstack/react-query'
import type { Stop } from '@bursar/server/src/console/contract/stops.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { may, type Role } from '@bursar/server/src/values/role.ts'
import { liveKey } from '../../api/query-key.ts'
import { resumeStop } from '../../api/stops.ts'
import { Button } from '../../components/button.tsx'
import { Notice } from '../../components/notice.tsx'
import { SignerStatus } from '../../components/signer-status.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useSigner } from '../../components/use-signer.ts'
import { countOf, formatWaiting } from '../../format/stop-text.ts'

interface StopNoticeProps {
  readonly workspace: Pick<Workspace, 'slug' | 'name'> & { readonly role: Role }
  readonly stop: Stop
}

/** A stop in force: what is stopped, since when and by whom, and how it is resumed. */
export function StopNotice({ workspace: { slug, name, role }, stop }: StopNoticeProps) {
  const client = useQueryClient()
  const mine = stop.groups.filter(({ is_mine }) => is_mine)
  const others = stop.groups.filter(({ is_mine }) => !is_mine)
  const resuming = useSigner({
    run: (signer) => resumeStop(signer, { slug, stop, claims: { workspace: name } }),
    onSettled: () => client.invalidateQueries({ queryKey: liveKey(slug, stop.mode) }),
  })
  const grants = mine.reduce((sum, group) => sum + group.grants, 0)
  return (
    <Notice tone="danger">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="grid min-w-0 flex-1 basis-80 gap-1">
          <p className="font-semibold">
            <StoppedText stop={stop} />
          </p>
          <p>
            Since <TimeText at={stop.created_at} isExact />, by <bdi>{stop.created_by ?? 'the server operator'}</bdi>.{' '}
            {stop.grants === 1 ? '1 grant is' : `${countOf(stop.grants, 'grant')} are`} suspended.
          </p>
          {mine.length > 1 && (
            <p>
              To resume {countOf(grants, 'grant')}, you sign {mine.length} times: once with each of your passkeys{' '}
              <bdi>{new Intl.ListFormat('en').format(mine.map((group) => `“${group.name}”`))}</bdi>.
            </p>
          )}
          {others.map((group) => (
            <p key={group.credential_id}>{formatWaiting(group)}</p>
          ))}
        </div>
        {grants > 0 && may(role, 'manageGrants') && (
          <Button variant="plain" isBusy={resuming.isPending} onClick={() => resuming.start()}>
            {`Resume ${countOf(grants, 'grant')}`}
          </Button>
        )}
      </div>
      <SignerStatus signer={resuming} />
    </Notice>
  )
}

function StoppedText({ stop: { agent_id: agent, wallet, groups } }: Pick<StopNoticeProps, 'stop'>) {
  if (agent !== null) {
    return (
      <>
        The agent “<bdi>{agent}</bdi>” is stopped
      </>
    )
  }
  if (wallet === null) return 'All agents are stopped'
  const name = groups.flatMap(({ wallets }) => wallets).find(({ address }) => address === wallet)?.name ?? wallet
  return (
    <>
      All agents’ payments from “<bdi>{name}</bdi>” are stopped
    </>
  )
}
