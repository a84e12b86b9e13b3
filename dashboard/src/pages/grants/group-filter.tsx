import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { GRANT_GROUPS, isInGroup, type GrantGroup } from '../../format/grant-state-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface GroupFilterProps {
  readonly grants: readonly Grant[]
  /** The group that is shown. Null if all grants are shown. */
  readonly group: GrantGroup | null
}

/** Filters the list by status. The URL contains the choice. */
export function GroupFilter({ grants, group }: GroupFilterProps) {
  const { to } = useWorkspace()
  const segments = GRANT_GROUPS.map((other) => ({
    text: `${other.title} (${grants.filter((grant) => isInGroup(grant, other)).length})`,
    to: `${to('grants')}?state=${other.id}`,
    isCurrent: other.id === group?.id,
  }))
  return (
    <div className="flex min-w-0">
      <SegmentedLinks
        label="Grants by status"
        segments={[{ text: 'All', to: to('grants'), isCurrent: group === null }, ...segments]}
      />
    </div>
  )
}
