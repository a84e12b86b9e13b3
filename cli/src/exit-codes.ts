/** The exit codes of all commands, by kind of outcome. Scripts rely on these numbers, so they never change. */
export const EXIT = {
  /** The command did what it was asked to do. */
  ok: 0,
  /** The command failed: the service or the network failed, a payment failed, or something does not exist. */
  failure: 1,
  /** The command or one of its values is not valid. Nothing was paid. */
  usage: 2,
  /** There is no credential, it is no longer valid, or it lacks a scope. */
  signIn: 3,
  /** A limit or a rule does not allow what the command was asked to do. Nothing was paid. */
  refused: 4,
  /** Reserved: the payment waits for a person's approval. The service has no approvals yet. */
  approval: 5,
  /** There was no result in time. The result may come later. */
  timeout: 6,
  /** Stopped with Ctrl-C: 128 plus the number of SIGINT. */
  interrupted: 130,
  /** The program that reads the output has closed it: 128 plus the number of SIGPIPE. */
  closedOutput: 141,
  /** Stopped with SIGTERM: 128 plus the number of SIGTERM. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
