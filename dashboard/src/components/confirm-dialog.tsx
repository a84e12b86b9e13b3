import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { AlertDialogContent } from './alert-dialog-content.tsx'
import { BusyLabel } from './busy-label.tsx'
import { Button, buttonClass } from './button.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { useAction } from './use-action.ts'

interface ConfirmDialogProps {
  /** The label of the button that opens the dialog. Screen readers read `labelDetail` after it. */
  readonly label: string
  readonly labelDetail?: string
  readonly title: string
  /** What the action does, in a sentence or two. Screen readers read it when the dialog opens. */
  readonly children: ReactNode
  /** More content, below the description. It may contain fields. */
  readonly details?: ReactNode
  /** Called when the dialog opens. */
  readonly onOpen?: () => void
  /** What the button that opens the dialog looks like, if not like a button of a page. Its name stays `label`. */
  readonly trigger?: { readonly className: string; readonly children: ReactNode } | undefined
  /** The label of the button that performs the action. */
  readonly confirmLabel: string
  /** Whether the action is harmless. Its buttons are then not red. */
  readonly isHarmless?: boolean
  readonly onConfirm: () => Promise<void>
}

/**
 * A button that asks for confirmation before it acts. If the action fails, the dialog stays open and shows the error.
 * While the action is running, the user can close the dialog. This does not stop the action, so the button says that it is
 * still running.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    label,
    labelDetail,
    title,
    children,
    details,
    confirmLabel,
    isHarmless = false,
    onOpen,
    onConfirm,
    trigger,
  } = props
  const [isOpen, setOpen] = useState(false)
  const action = useAction({
    mutationFn: onConfirm,
    onSuccess: () => setOpen(false),
    // If the user has closed the dialog meanwhile, it opens again to show the error.
    onError: () => setOpen(true),
  })
  const isConfirmed = useRef(false)
  useEffect(
    () => () => {
      if (isConfirmed.current) setTimeout(returnToHeading)
    },
    [],
  )
  const change = (open: boolean) => {
    if (!action.isPending) {
      action.reset()
      if (open) onOpen?.()
    }
    setOpen(open)
  }
  const confirm = () => {
    isConfirmed.current = true
    action.mutate()
  }
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={change}>
      <AlertDialog.Trigger
        aria-label={labelDetail === undefined ? trigger && label : `${label} ${labelDetail}`}
        className={trigger?.className ?? `${buttonClass('plain')} ${isHarmless ? '' : '!text-danger'}`}
      >
        {action.isPending ? <BusyLabel label={confirmLabel} /> : (trigger?.children ?? label)}
      </AlertDialog.Trigger>
      <AlertDialogContent title={title} lead={children}>
        {details}
        <ErrorNotice error={action.error} />
        <div className="flex flex-wrap justify-end gap-3">
          <AlertDialog.Close className={buttonClass('plain')}>
            {action.isPending ? 'Close' : 'Cancel'}
          </AlertDialog.Close>
          <Button variant={isHarmless ? 'primary' : 'danger'} isBusy={action.isPending} onClick={confirm}>
            {confirmLabel}
          </Button>
        </div>
      </AlertDialogContent>
    </AlertDialog.Root>
  )
}

/**
 * Moves the focus to the page heading if no element has the focus. The action may have removed the button that had it.
 */
function returnToHeading(): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
}
