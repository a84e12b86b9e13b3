import type { ConnectionError } from '@bursar/server/src/console/contract/connection-errors.ts'

interface ErrorText {
  /** What happened. */
  readonly what: string
  /** What the reader can do next. */
  readonly next: string
}

const AGAIN = 'Start the connection again in the application.'
const AGAIN_OR_REPORT = `${AGAIN} If this happens again, report it to the makers of the application.`

const TEXTS: Readonly<Record<ConnectionError['code'], ErrorText>> = {
  code_not_exchanged: {
    what: 'The application was approved, but it did not finish connecting.',
    next: `${AGAIN} If this happens again, the application probably cannot reach this service.`,
  },
  code_expired: {
    what: 'The authorization code had expired. It is valid for 60 seconds.',
    next: AGAIN,
  },
  code_blocked: {
    what: 'The authorization code was blocked after five wrong attempts.',
    next: AGAIN_OR_REPORT,
  },
  code_used_twice: {
    what: 'The authorization code was used twice. Somebody may have copied it, so Bursar ended the connection.',
    next: AGAIN,
  },
  client_mismatch: {
    what: 'Another application tried to use a code or token of this application.',
    next: 'If you cannot explain this, disconnect the application and connect it again.',
  },
  redirect_uri_mismatch: {
    what: 'The application used one redirect address to ask for approval, and another one to finish connecting.',
    next: AGAIN_OR_REPORT,
  },
  code_verifier_mismatch: {
    what: 'The application could not prove that it had started the connection (its PKCE code verifier was wrong).',
    next: AGAIN_OR_REPORT,
  },
  resource_mismatch: {
    what: 'The application asked for access to a URL that was not approved.',
    next: 'Check the URL in the application: it must be the MCP URL on this page. Then start the connection again.',
  },
  refresh_token_used_twice: {
    what: 'A refresh token was used twice, so Bursar ended the connection. Usually, two copies of the application share one stored token, such as two windows or two machines. Or somebody has copied the token.',
    next: `${AGAIN} If several copies run, connect each of them separately, or give them an API key or the command bursar mcp.`,
  },
  scope_not_granted: {
    what: 'The application asked for a permission that it was not given.',
    next: 'Start the connection again in the application, and allow what it needs.',
  },
  scope_missing: {
    what: 'The application tried to do something that it has no permission for.',
    next: 'If it should be able to do this, start the connection again in the application, and allow it.',
  },
  connection_ended: {
    what: 'The application used a connection that had ended.',
    next: 'If it should have access again, start the connection again in the application.',
  },
  connection_expired: {
    what: 'The connection had expired, because it was not used for 30 days.',
    next: AGAIN,
  },
  consent_lost: {
    what: 'The person who approved the application is no longer an owner or admin of this workspace.',
    next: 'An owner or admin must start the connection again in the application.',
  },
}

/** Explains why a connection failed, and what to do next. */
export function explainConnectionError(code: ConnectionError['code']): ErrorText {
  return TEXTS[code]
}
