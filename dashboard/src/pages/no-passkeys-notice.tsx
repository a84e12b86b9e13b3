import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { Notice } from '../components/notice.tsx'

/** For browsers that know no passkeys, or are not allowed them (a page over plain HTTP). */
export function NoPasskeysNotice() {
  if (browserSupportsWebAuthn()) return null
  return (
    <Notice tone="warning">
      <p>This browser offers no passkeys here. Use a current one, over https.</p>
    </Notice>
  )
}
