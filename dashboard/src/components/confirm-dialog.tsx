import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Button, buttonClass } from './button.tsx'
import { ErrorNotice } from './error-notice.tsx'

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
  const deed = useMutation({ mutationFn: onConfirm, onSuccess: () => setOpen(false) })
  const change = (open: boolean) => {
    if (deed.isPending) return
    deed.reset()
    setOpen(open)
  }
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={change}>
      <AlertDialog.Trigger
        aria-label={labelDetail === undefined ? undefined : `${label} ${labelDetail}`}
        className={`${buttonClass('plain')} ${isHarmless ? '' : '!text-danger'}`}
      >
        {label}
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 min-h-dvh bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 supports-[-webkit-touch-callout:none]:absolute" />
        <AlertDialog.Popup className="fixed top-1/2 left-1/2 grid max-h-[calc(100dvh-2rem)] w-[26rem] max-w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 gap-5 overflow-y-auto rounded-2xl border border-line bg-surface p-6 text-ink shadow-lift transition-opacity duration-150 outline-none data-ending-style:opacity-0 data-starting-style:opacity-0">
          <div className="grid gap-2">
            <AlertDialog.Title className="text-lg font-bold">{title}</AlertDialog.Title>
            <AlertDialog.Description className="text-muted" render={<div />}>
              {children}
            </AlertDialog.Description>
          </div>
          <ErrorNotice error={deed.error} />
          <div className="flex flex-wrap justify-end gap-3">
            <AlertDialog.Close className={buttonClass('plain')}>Cancel</AlertDialog.Close>
            <Button look={isHarmless ? 'primary' : 'danger'} disabled={deed.isPending} onClick={() => deed.mutate()}>
              {confirmLabel}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
