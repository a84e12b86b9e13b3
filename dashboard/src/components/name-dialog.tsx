import { AlertDialog } from '@base-ui/react/alert-dialog'
import { NAME_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { useState, type ReactElement, type ReactNode } from 'react'
import { AlertDialogContent } from './alert-dialog-content.tsx'
import { buttonClass } from './button.tsx'
import { NameForm } from './name-form.tsx'

interface NameDialogProps {
  /** The button that opens the dialog. */
  readonly trigger: ReactElement
  readonly title: string
  /** The current name. Empty if there is none. */
  readonly initial: string
  /** The label of the field. */
  readonly label?: string
  readonly charsMax?: number
  /** Where the name is seen, or what a new name does not change. */
  readonly children: ReactNode
  readonly onSubmit: (name: string) => Promise<unknown>
}

/** A button that opens a dialog with a field for a name. */
export function NameDialog(props: NameDialogProps) {
  const { trigger, title, initial, children, onSubmit } = props
  const { label = initial === '' ? 'Name' : 'New name', charsMax = NAME_CHARS_MAX } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={setOpen}>
      <AlertDialog.Trigger render={trigger} />
      <AlertDialogContent title={title} lead={children}>
        <NameForm
          label={label}
          submitLabel="Save"
          variant="primary"
          charsMax={charsMax}
          initial={initial}
          onSubmit={async (text) => {
            await onSubmit(text)
            setOpen(false)
          }}
          onCancel={() => setOpen(false)}
        />
      </AlertDialogContent>
    </AlertDialog.Root>
  )
}

interface RenameDialogProps {
  /** The current name. */
  readonly name: string
  readonly children: ReactNode
  readonly onRename: (name: string) => Promise<unknown>
}

/** A button that opens a dialog with a field for another name. */
export function RenameDialog({ name, children, onRename }: RenameDialogProps) {
  return (
    <NameDialog
      trigger={
        <button type="button" aria-label={`Rename ${name}`} className={buttonClass('plain')}>
          Rename
        </button>
      }
      title={`Rename “${name}”`}
      initial={name}
      onSubmit={onRename}
    >
      {children}
    </NameDialog>
  )
}
