import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { CATEGORY_CODE_POINTS_MAX, NOTE_CODE_POINTS_MAX } from '@bursar/server/src/values/limits.ts'
import { may } from '@bursar/server/src/values/role.ts'
import type { PaymentNote } from '@bursar/server/src/console/contract/payments.ts'
import { paymentQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { readFormText } from '../../components/read-form-text.ts'
import { Section } from '../../components/section.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useAction } from '../../components/use-action.ts'
import { fieldErrors } from '../../format/field-errors.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What people wrote about a payment, and for owners and admins the form to change it. */
export function PaymentNoteSection({ id, note }: { readonly id: string; readonly note: PaymentNote }) {
  const { role } = useWorkspace()
  const [isEditing, setEditing] = useState(false)
  const isEmpty = note.note === null && note.category === null && note.link === null
  const mayEdit = may(role, 'annotatePayments')
  if (isEmpty && !mayEdit) return null
  return (
    <Section
      title="For your books"
      actions={
        mayEdit && !isEditing && <Button onClick={() => setEditing(true)}>{isEmpty ? 'Add a note' : 'Edit'}</Button>
      }
    >
      {isEditing ? (
        <NoteForm id={id} note={note} onClose={() => setEditing(false)} />
      ) : isEmpty ? (
        <p className="text-muted">No note, category or link yet. Agents can’t see them.</p>
      ) : (
        <DescriptionList>
          {note.category !== null && (
            <DescriptionItem term="Category">
              <bdi>{note.category}</bdi>
            </DescriptionItem>
          )}
          {note.note !== null && (
            <DescriptionItem term="Note">
              <bdi className="whitespace-pre-line">{note.note}</bdi>
            </DescriptionItem>
          )}
          {note.link !== null && (
            <DescriptionItem term="Link">
              <ExternalLink href={note.link}>{note.link}</ExternalLink>
            </DescriptionItem>
          )}
        </DescriptionList>
      )}
    </Section>
  )
}

interface NoteFormProps {
  readonly id: string
  readonly note: PaymentNote
  readonly onClose: () => void
}

function NoteForm({ id, note, onClose }: NoteFormProps) {
  const { slug, mode } = useWorkspace()
  const queryClient = useQueryClient()
  const saving = useAction({
    mutationFn: async (texts: Readonly<Record<keyof PaymentNote, string>>) => {
      const body = { mode, ...texts }
      await request('PATCH /console/workspaces/:slug/payments/:id/note', { params: { slug, id }, body })
      await queryClient.invalidateQueries({ queryKey: paymentQuery(slug, mode, id).queryKey })
      onClose()
    },
  })
  const errors = fieldErrors(saving.error)
  const isFieldError = errors['link'] !== undefined
  const form = useRef<HTMLFormElement>(null)
  useEffect(
    () => form.current?.querySelector<HTMLElement>(isFieldError ? '[name=link]' : 'input')?.focus(),
    [isFieldError],
  )
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const target = event.currentTarget
        const read = (name: keyof PaymentNote) => readFormText(target, name)
        if (!saving.isPending) saving.mutate({ category: read('category'), note: read('note'), link: read('link') })
      }}
    >
      <TextField
        name="category"
        label="Category"
        maxLength={CATEGORY_CODE_POINTS_MAX}
        autoComplete="off"
        defaultValue={note.category ?? ''}
      />
      <TextField
        name="note"
        label="Note"
        maxLength={NOTE_CODE_POINTS_MAX}
        autoComplete="off"
        defaultValue={note.note ?? ''}
      />
      <TextField
        name="link"
        label="Link"
        type="url"
        placeholder="https://"
        autoComplete="off"
        hint="For example to the invoice. Only https."
        error={errors['link']}
        defaultValue={note.link ?? ''}
      />
      {!isFieldError && <ErrorNotice error={saving.error} />}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={saving.isPending}>
          Save
        </Button>
        <Button variant="quiet" onClick={onClose}>
          {saving.isPending ? 'Close' : 'Cancel'}
        </Button>
      </div>
    </form>
  )
}
