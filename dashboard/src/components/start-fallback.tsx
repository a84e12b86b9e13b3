import { START_SHELL } from './start-shell.ts'

/** What the first page of a visit shows while its code or the session is loading: the same as before React started. */
export function StartFallback() {
  // oxlint-disable-next-line react/no-danger -- a constant of this project, which index.html contains as HTML too
  return <div dangerouslySetInnerHTML={{ __html: START_SHELL }} />
}
