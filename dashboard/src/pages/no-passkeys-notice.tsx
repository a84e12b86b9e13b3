import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { Notice } from '../components/notice.tsx'

/** Warns if the browser does not support passkeys, or if it blocks them because the page was loaded over plain HTTP. */
export function NoPasskeysNotice() {
  if (browserSupportsWebAuthn()) return null
  return (
    <Notice tone="warning">
      <p>Passkeys are not available in this browser. Use a current browser, and open this page over HTTPS.</p>
    </Notice>
  )
}
