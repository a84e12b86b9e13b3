import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/browser'
import { SignerError } from './signer-error.ts'
import { parseReply, type SignerMessage, type SignerReply } from './signer-messages.ts'

/** How long the signer page may take to load. */
const LOADING_MS_MAX = 30_000
/** How long a person may take for one request. The signer page rejects requests that are valid for longer. */
const REPLY_MS_MAX = 15 * 60_000
/** How often we check whether the window was closed. Browsers do not tell a page when another site's window closes. */
const CLOSED_CHECK_MS = 400
/** On a smaller screen, the signer page opens in a tab. */
const POPUP_SCREEN_WIDTH_MIN = 640
const POPUP_WIDTH = 480
const POPUP_HEIGHT = 760
const WINDOW_NAME = 'bursar-signer'

type SignMessage = Extract<SignerMessage, { readonly bursar: 'sign' }>
type CreateMessage = Extract<SignerMessage, { readonly bursar: 'create' }>

/** The signer page in its own window. It handles one request after the other, until it is closed. */
export interface SignerWindow {
  /** Asks the person to sign. Throws a `SignerError` if they do not. */
  sign(message: Omit<SignMessage, 'bursar'>): Promise<AuthenticationResponseJSON>
  /** Asks the person to create a wallet passkey. Throws a `SignerError` if they do not. */
  create(message: Omit<CreateMessage, 'bursar'>): Promise<RegistrationResponseJSON>
  /** Brings the window to the front. */
  focus(): void
  close(): void
}

interface Pending {
  readonly message: SignerMessage
  readonly resolve: (reply: SignerReply) => void
  readonly reject: (error: SignerError) => void
}

/**
 * Opens the signer page. Call it in the handler of a click, because browsers block windows that open at another time.
 * Returns null if the browser blocks the window.
 *
 * Accepts a message only if it comes from the opened window and from the signer page's site.
 */
export function openSignerWindow(signerUrl: string): SignerWindow | null {
  const { origin } = new URL(signerUrl)
  let pending: Pending | null = null
  let isReady = false
  let isClosed = false

  const onMessage = (event: MessageEvent<unknown>) => {
    if (event.origin !== origin || event.source !== opened) return
    const reply = parseReply(event.data)
    if (reply === null) return
    if (reply.bursar === 'ready') {
      // The signer page sends `ready` again if the person reloads it. The request is then sent again.
      isReady = true
      if (pending !== null) opened?.postMessage(pending.message, origin)
    } else pending?.resolve(reply)
  }
  // Registered before the window opens, because the signer page may send `ready` at once.
  window.addEventListener('message', onMessage)
  const opened = window.open(`${origin}/`, WINDOW_NAME, windowFeatures())
  if (opened === null) {
    window.removeEventListener('message', onMessage)
    return null
  }

  const close = () => {
    if (isClosed) return
    isClosed = true
    window.removeEventListener('message', onMessage)
    window.removeEventListener('pagehide', close)
    clearInterval(closedCheck)
    clearTimeout(loading)
    pending?.reject(new SignerError('closed'))
    opened.close()
  }
  const fail = (code: 'closed' | 'not_loaded' | 'timeout') => {
    pending?.reject(new SignerError(code))
    close()
  }
  const closedCheck = setInterval(() => {
    if (opened.closed) fail('closed')
  }, CLOSED_CHECK_MS)
  const loading = setTimeout(() => {
    if (!isReady) fail('not_loaded')
  }, LOADING_MS_MAX)
  window.addEventListener('pagehide', close)

  const request = async (message: SignerMessage): Promise<SignerReply> => {
    if (isClosed) throw new SignerError('closed')
    const timeout = setTimeout(() => fail('timeout'), REPLY_MS_MAX)
    try {
      const reply = await new Promise<SignerReply>((resolve, reject) => {
        pending = { message, resolve, reject }
        if (isReady) opened.postMessage(message, origin)
      })
      if (reply.bursar === 'refused')
        throw new SignerError('refused', `The signer page refused the request: ${reply.message}`)
      if (reply.bursar === 'canceled') throw new SignerError('canceled')
      return reply
    } finally {
      pending = null
      clearTimeout(timeout)
    }
  }
  return {
    sign: async (message) => {
      const reply = await request({ bursar: 'sign', ...message })
      if (reply.bursar !== 'signed')
        throw new SignerError('refused', 'The signer page did not return a signature. Try again.')
      return reply.assertion
    },
    create: async (message) => {
      const reply = await request({ bursar: 'create', ...message })
      if (reply.bursar !== 'created')
        throw new SignerError('refused', 'The signer page did not return a passkey. Try again.')
      return reply.registration
    },
    focus: () => opened.focus(),
    close,
  }
}

function windowFeatures(): string {
  if (window.screen.width < POPUP_SCREEN_WIDTH_MIN) return ''
  const left = Math.round(window.screenX + Math.max(0, (window.outerWidth - POPUP_WIDTH) / 2))
  const top = Math.round(window.screenY + Math.max(0, (window.outerHeight - POPUP_HEIGHT) / 2))
  return `popup,width=${POPUP_WIDTH},height=${POPUP_HEIGHT},left=${left},top=${top}`
}
