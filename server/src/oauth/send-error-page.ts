import type { FastifyReply, FastifyRequest } from 'fastify'
import { setPageHeaders } from '../http/page-headers.ts'
import { toProblem } from '../http/to-problem.ts'
import { InvalidClient, OauthError } from './oauth-error.ts'
import { formatErrorPage, type ErrorPage } from './page.ts'
import { startErrorResponse } from './error-response.ts'

/** The error handler of what a person's browser opens: a page, whatever went wrong, and never a redirect (D35). */
export function sendErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { fault, ...told } = thrown instanceof OauthError ? tellOauthError(thrown) : tellProblem(thrown)
  setPageHeaders(reply)
  startErrorResponse(fault, request, reply)
  void reply
    .header('Content-Type', 'text/html; charset=utf-8')
    .send(formatErrorPage({ ...told, message: fault.message, requestId: request.id }))
}

const BACK = 'Go back to the application and connect again.'
const ADVICE: Readonly<Record<string, string>> = {
  authorization_request_decided:
    'Your answer, here or in another tab, has reached the application. Your connections are in the dashboard.',
  authorization_request_not_found:
    'The request is not known, or has expired. Go back to the application and connect again.',
  verification_required: 'Only you can connect an application. Go back, and confirm with your passkey that it is you.',
  role_insufficient:
    'Your role in this workspace does not allow it. An owner or admin of the workspace can approve it.',
  cross_origin: 'This page was sent here by another site. Open the application and connect from there.',
}

type Told = Pick<ErrorPage, 'title' | 'advice' | 'error' | 'parameter'> & {
  readonly fault: Parameters<typeof startErrorResponse>[0]
}

const NOT_CONNECTED = 'The application could not be connected'
const RECONNECT = 'In the application, remove its connection to Bursar and add it again.'

function tellOauthError(error: OauthError): Told {
  const { parameter } = error
  const told = { title: NOT_CONNECTED, error: error.error, parameter }
  if (error instanceof InvalidClient) {
    const advice = `The application introduced itself with an id that is not known here, or not any more. ${RECONNECT}`
    // A 401 would ask the browser for a password.
    return { ...told, advice, fault: { status: 400, message: error.message } }
  }
  const advice =
    parameter === 'redirect_uri'
      ? `The application asked for the answer at an address that it has not registered. ${RECONNECT} If that does not help, tell its maker.`
      : 'The request is not understood here. It is no fault of yours, and nothing was connected. Tell the maker of the application what stands below.'
  return { ...told, advice, fault: error }
}

function tellProblem(thrown: unknown): Told {
  const problem = toProblem(thrown)
  const told = { error: problem.code ?? problem.type, parameter: undefined, fault: problem }
  if (problem.retryAfterSeconds !== undefined) {
    const advice = `Wait ${problem.retryAfterSeconds} seconds, then go back to the application and connect again.`
    return { ...told, title: 'Not now', advice }
  }
  if (problem.status >= 500) {
    const advice = 'This is our fault, not yours. Go back to the application and connect again.'
    return { ...told, title: 'Something went wrong', advice }
  }
  return { ...told, title: 'Nothing was changed', advice: ADVICE[problem.code ?? ''] ?? BACK }
}
