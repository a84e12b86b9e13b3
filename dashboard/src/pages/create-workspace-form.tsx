import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useQueryClient } from '@tanstack/react-query'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { sessionQuery } from '../api/session.ts'
import { request } from '../api/request.ts'
import { NameForm } from '../components/name-form.tsx'

interface CreateWorkspaceFormProps {
  readonly variant?: 'primary' | 'plain'
  readonly onCreated?: (workspace: Workspace) => void
}

export function CreateWorkspaceForm({ variant = 'plain', onCreated }: CreateWorkspaceFormProps) {
  const client = useQueryClient()
  return (
    <NameForm
      label="Workspace name"
      hint="A workspace holds agents, wallets and members. You will be its owner."
      submitLabel="Create workspace"
      variant={variant}
      charsMax={NAME_CHARS_MAX}
      onSubmit={async (name) => {
        const { workspace } = await request('POST /console/workspaces', { body: { name } })
        await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
        onCreated?.(workspace)
      }}
    />
  )
}
