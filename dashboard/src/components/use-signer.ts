import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ensureVerified } from '../api/verify.ts'
import { useSession } from './session-context.ts'
import { SignerError } from '../signer/signer-error.ts'
import { openSignerWindow, type SignerWindow } from '../signer/signer-window.ts'

interface SignerOptions<Data, Variables> {
  /** Sends the requests to the signer page. The window is closed when this function returns or throws. */
  readonly run: (signer: SignerWindow, variables: Variables) => Promise<Data>
  /**
   * Whether one of the requests to our server needs a recent proof by passkey. The person gives this proof before the
   * signer window opens, because a passkey prompt on this page needs the focus.
   */
  readonly needsProof?: boolean
  readonly onSuccess?: (data: Data, variables: Variables) => unknown
  /** Called after a success and after a failure. */
  readonly onSettled?: () => unknown
}

/** The state of something that the person does in the signer window. */
export interface SignerAction<Data = unknown, Variables = void> {
  /** Opens the signer window, or brings it to the front if it is open. Call it in the handler of a click. */
  readonly start: (variables: Variables) => void
  readonly isPending: boolean
  /** Whether the browser blocked the window, so that another click must open it. */
  readonly isBlocked: boolean
  readonly error: Error | null
  readonly data: Data | undefined
  /** The arguments of the last start. */
  readonly variables: Variables | undefined
  /** Brings the window to the front, or opens it if the browser blocked it. Call it in the handler of a click. */
  readonly show: () => void
  /** Closes the window. */
  readonly cancel: () => void
}

interface Start<Variables> {
  readonly variables: Variables
  /** Null if the window is opened later: after a proof, or after another click. */
  readonly opened: SignerWindow | null
}

/** An action that takes place in the signer window. The window is closed when the action or the page ends. */
export function useSigner<Data = unknown, Variables = void>(
  options: SignerOptions<Data, Variables>,
): SignerAction<Data, Variables> {
  const { run, needsProof = false, onSuccess, onSettled } = options
  const { signer_url: signerUrl } = useSession()
  const current = useRef<SignerWindow | null>(null)
  const isRunning = useRef(false)
  /** Set while the browser blocks the window. Takes the window that another click opened, or null to cancel. */
  const goOn = useRef<((opened: SignerWindow | null) => void) | null>(null)
  const [isBlocked, setBlocked] = useState(false)
  const open = (): SignerWindow | null => (signerUrl === null ? null : openSignerWindow(signerUrl))
  const cancel = () => {
    goOn.current?.(null)
    current.current?.close()
  }
  useEffect(
    () => () => {
      goOn.current?.(null)
      current.current?.close()
    },
    [],
  )

  const waitForClick = async (): Promise<SignerWindow> => {
    setBlocked(true)
    const opened = await new Promise<SignerWindow | null>((resolve) => {
      goOn.current = resolve
    })
    goOn.current = null
    setBlocked(false)
    if (opened === null) throw new SignerError('blocked')
    return opened
  }

  const action = useMutation<Data, Error, Start<Variables>>({
    mutationFn: async ({ variables, opened }) => {
      try {
        if (signerUrl === null) throw new SignerError('not_configured')
        if (needsProof) await ensureVerified()
        current.current = opened ?? open() ?? (await waitForClick())
        return await run(current.current, variables)
      } finally {
        current.current?.close()
        current.current = null
        isRunning.current = false
      }
    },
    onSuccess: (data, { variables }) => onSuccess?.(data, variables),
    onSettled: () => onSettled?.(),
  })
  return {
    start: (variables) => {
      if (isRunning.current) {
        current.current?.focus()
        return
      }
      isRunning.current = true
      const opened = needsProof ? null : open()
      current.current = opened
      action.mutate({ variables, opened })
    },
    isPending: action.isPending,
    isBlocked,
    error: action.error,
    data: action.data,
    variables: action.variables?.variables,
    show: () => {
      if (goOn.current === null) {
        current.current?.focus()
        return
      }
      const opened = open()
      if (opened !== null) goOn.current(opened)
    },
    cancel,
  }
}
