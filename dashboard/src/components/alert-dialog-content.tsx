import { AlertDialog } from '@base-ui/react/alert-dialog'
import type { ReactNode } from 'react'

interface AlertDialogContentProps {
  readonly title: string
  readonly lead: ReactNode
  readonly children: ReactNode
}

/** The frame of a dialog that asks for a decision: title, description, and the buttons below. */
export function AlertDialogContent({ title, lead, children }: AlertDialogContentProps) {
  return (
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="fixed inset-0 min-h-dvh bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0 supports-[-webkit-touch-callout:none]:absolute" />
      <AlertDialog.Popup className="fixed top-1/2 left-1/2 grid max-h-[calc(100dvh-2rem)] w-[26rem] max-w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 gap-5 overflow-y-auto rounded-2xl border border-line bg-surface p-6 text-ink shadow-lift transition-opacity duration-150 outline-none data-ending-style:opacity-0 data-starting-style:opacity-0">
        <div className="grid gap-2">
          <AlertDialog.Title className="text-lg font-bold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="text-muted" render={<div />}>
            {lead}
          </AlertDialog.Description>
        </div>
        {children}
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  )
}
