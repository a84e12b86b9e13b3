import { useEffect, useRef, type ReactNode } from 'react'
import { Notice } from '../../components/notice.tsx'

/** The next step after a secret was saved. Takes the focus, because the element that had the focus is gone. */
export function NextStep({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const place = useRef<HTMLParagraphElement>(null)
  useEffect(() => place.current?.focus(), [])
  return (
    <Notice>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p ref={place} tabIndex={-1} className="font-semibold outline-none">
          {text}
        </p>
        {children}
      </div>
    </Notice>
  )
}
