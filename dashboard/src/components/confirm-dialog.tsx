import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { AlertDialogContent } from './alert-dialog-content.tsx'
import { Button, buttonClass } from './button.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { useAction } from './use-action.ts'

interface ConfirmDialogProps {
  /** What the button says that opens it, and what readers of the screen hear besides. */
  readonly label: string
  readonly labelDetail?: string
  readonly title: string
  readonly children: ReactNode
  /** What the button says that does it. */
  readonly confirmLabel: string
  /** For a deed that takes nothing from anybody. */
  readonly isHarmless?: boolean
  readonly onConfirm: () => Promise<void>
}

/** A button whose deed can't be undone: it asks first, and stays open with the reason when the deed fails. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { label, labelDetail, title, children, confirmLabel, isHarmless = false, onConfirm } = props
  const [isOpen, setOpen] = useState(false)
  const action = useAction({ mutationFn: onConfirm, onSuccess: () => setOpen(false) })
  const isTold = useRef(false)
  useEffect(
    () => () => {
      if (isTold.current) setTimeout(returnToHeading)
    },
    [],
  )
  const change = (open: boolean) => {
    if (action.isPending) return
    action.reset()
    setOpen(open)
  }
  const confirm = () => {
    isTold.current = true
    action.mutate()
  }
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={change}>
      <AlertDialog.Trigger
        aria-label={labelDetail === undefined ? undefined : `${label} ${labelDetail}`}
        className={`${buttonClass('plain')} ${isHarmless ? '' : '!text-danger'}`}
      >
        {label}
      </AlertDialog.Trigger>
      <AlertDialogContent title={title} lead={children}>
        <ErrorNotice error={action.error} />
        <div className="flex flex-wrap justify-end gap-3">
          <AlertDialog.Close className={buttonClass('plain')}>Cancel</AlertDialog.Close>
          <Button variant={isHarmless ? 'primary' : 'danger'} disabled={action.isPending} onClick={confirm}>
            {confirmLabel}
          </Button>
        </div>
      </AlertDialogContent>
    </AlertDialog.Root>
  )
}

/** What was deleted takes its button along, and the focus with it: reading goes on at the page's beginning then. */
function returnToHeading(): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
}
