import { useQueryClient } from '@tanstack/react-query'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import { liveKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { NameDialog } from '../../components/name-dialog.tsx'
import { useAction } from '../../components/use-action.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Buttons that give an agent a label, or take it away. */
export function AgentLabel({ agent: { id, label } }: { readonly agent: Agent }) {
  const { slug, mode } = useWorkspace()
  const client = useQueryClient()
  const change = async (text: string | null) => {
    const input = { params: { slug, id }, body: { mode, label: text } }
    await request('PATCH /console/workspaces/:slug/agents/:id', input)
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  const removal = useAction({ mutationFn: () => change(null) })
  return (
    <>
      <ErrorNotice error={removal.error} />
      <NameDialog
        trigger={<Button>{label === null ? 'Add a label' : 'Change label'}</Button>}
        title={label === null ? 'Add a label' : 'Change label'}
        label="Label"
        initial={label ?? ''}
        onSubmit={change}
      >
        A label tells people what the agent is for. Programs use the ID, which stays the same.
      </NameDialog>
      {label !== null && (
        <Button isBusy={removal.isPending} onClick={() => removal.mutate()}>
          Remove label
        </Button>
      )}
    </>
  )
}
