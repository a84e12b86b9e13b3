import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { viewsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { NameForm } from '../../components/name-form.tsx'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The views that the workspace has saved, and a button that saves the current one. `query` is the current view. */
export function SavedViews({ query }: { readonly query: string }) {
  const { slug, mode, role } = useWorkspace()
  const { data: views = [] } = useQuery(viewsQuery(slug, mode))
  const [isNaming, setNaming] = useState(false)
  const client = useQueryClient()
  const reload = () => client.invalidateQueries({ queryKey: viewsQuery(slug, mode).queryKey })
  const current = views.find((view) => view.query === query)
  const canSave = may(role, 'saveViews')
  // The page has links to the views by status already.
  const isNew = current === undefined && [...new URLSearchParams(query).keys()].some((name) => name !== 'status')
  const save = async (name: string) => {
    await request('POST /console/workspaces/:slug/views', { params: { slug }, body: { mode, name, query } })
    await reload()
    setNaming(false)
  }
  const remove = async (id: string) => {
    await request('DELETE /console/workspaces/:slug/views/:id', { params: { slug, id }, query: { mode } })
    await reload()
  }
  if (views.length === 0 && !(isNew && canSave)) return null
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
      {views.length > 0 && (
        <SegmentedLinks
          label="Saved views"
          segments={views.map((view) => ({
            text: view.name,
            to: { search: view.query },
            isCurrent: view === current,
          }))}
        />
      )}
      {canSave && current !== undefined && (
        <ConfirmDialog
          label="Delete view"
          labelDetail={current.name}
          title={`Delete the view “${current.name}”?`}
          confirmLabel="Delete view"
          onConfirm={() => remove(current.id)}
        >
          All members see the saved views. No payment is deleted.
        </ConfirmDialog>
      )}
      {canSave && isNew && !isNaming && (
        <Button variant="quiet" onClick={() => setNaming(true)}>
          Save view
        </Button>
      )}
      {canSave && isNew && isNaming && (
        <div className="w-full max-w-md">
          <NameForm
            label="Name of the view"
            hint="All members of the workspace see it. A view with the same name is replaced."
            submitLabel="Save view"
            charsMax={NAME_CHARS_MAX}
            onSubmit={save}
            onCancel={() => setNaming(false)}
          />
        </div>
      )}
    </div>
  )
}
