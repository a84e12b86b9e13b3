import type { FastifyReply, FastifyRequest } from 'fastify'
import { setPageHeaders } from '../http/page-headers.ts'
import { toProblem } from '../http/to-problem.ts'
import { formatSeconds } from '../values/problem.ts'
import {
  ClientDocumentUnavailable,
  ClientHostNotPublic,
  InvalidClient,
  InvalidClientDocument,
  OauthError,
} from './oauth-error.ts'
import { formatErrorPage, type ErrorPage } from './page.ts'
import { startErrorResponse } from './error-response.ts'

/**
 * The error handler of the endpoints that users open in a browser. It always responds with a page, never with a
 * redirect (D35).
 */
export function sendErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { fault, ...page } = thrown instanceof OauthError ? describeOauthError(thrown) : describeProblem(thrown)
  setPageHeaders(reply)
  startErrorResponse(fault, request, reply)
  void reply
    .header('Content-Type', 'text/html; charset=utf-8')
    .send(formatErrorPage({ ...page, message: fault.message, requestId: request.id }))
}

const BACK = 'Go back to the application and connect again.'
const ADVICE: Readonly<Record<string, string>> = {
  authorization_request_decided:
    'You have already answered this request, here or in another tab. You can see your connections in the dashboard.',
  authorization_request_not_found:
    'The request has expired or does not exist. Go back to the application and connect again.',
  verification_required: 'To connect an application, you must confirm with your passkey. Go back and confirm.',
  role_insufficient:
    'Your role in this workspace does not allow you to connect an application. Ask an owner or admin of the workspace.',
  cross_origin: 'Another site sent this request. Go back to the application and connect from there.',
}

type Description = Pick<ErrorPage, 'title' | 'advice' | 'error' | 'parameter'> & {
  readonly fault: Parameters<typeof startErrorResponse>[0]
}

const NOT_CONNECTED = 'The application could not be connected'
const DOCUMENT = 'The application describes itself in a document on its own website.'
const RECONNECT = 'In the application, remove its connection to Bursar and add it again.'

function describeOauthError(error: OauthError): Description {
  const { parameter } = error
  const common = { title: NOT_CONNECTED, error: error.error, parameter }
  if (error instanceof ClientDocumentUnavailable) {
    const advice =
      error instanceof ClientHostNotPublic
        ? `${DOCUMENT} Bursar could not find a public address of this website. Waiting does not help. Send the details below to the application’s developer.`
        : `${DOCUMENT} Bursar could not read it now. Wait ${waitOf(error)}, then go back to the application and connect again.`
    const { status, message, retryAfterSeconds } = error
    return { ...common, advice, fault: { status, message, retryAfterSeconds, isLogged: true } }
  }
  if (error instanceof InvalidClientDocument) {
    const advice = `${DOCUMENT} Bursar cannot accept it. You did nothing wrong. Send the details below to the application’s developer.`
    return { ...common, advice, fault: error }
  }
  if (error instanceof InvalidClient) {
    const advice = `The application is not registered here, or is no longer registered. ${RECONNECT}`
    // This error has the status 401 at other endpoints. Here it is 400, because a browser may ask for a password after
    // a 401.
    return { ...common, advice, fault: { status: 400, message: error.message } }
  }
  const advice =
    parameter === 'redirect_uri'
      ? `The application's redirect address is not registered. ${RECONNECT} If that does not help, contact its developer.`
      : 'The application sent a request that is not valid, so it was not connected. You did nothing wrong. Send the details below to its developer.'
  return { ...common, advice, fault: error }
}

function waitOf({ retryAfterSeconds }: OauthError): string {
  return retryAfterSeconds === undefined ? 'a moment' : formatSeconds(retryAfterSeconds)
}

function describeProblem(thrown: unknown): Description {
  const problem = toProblem(thrown)
  const common = { error: problem.code ?? problem.type, parameter: undefined, fault: problem }
  if (problem.retryAfterSeconds !== undefined) {
    const advice = `Wait ${formatSeconds(problem.retryAfterSeconds)}, then go back to the application and connect again.`
    return { ...common, title: 'Please wait', advice }
  }
  if (problem.status >= 500) {
    const advice = 'The error is on our side. Go back to the application and connect again.'
    return { ...common, title: 'Something went wrong', advice }
  }
  return { ...common, title: 'The request could not be completed', advice: ADVICE[problem.code ?? ''] ?? BACK }
}
