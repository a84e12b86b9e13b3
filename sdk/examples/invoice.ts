/** What the agents of these examples pay. */
export interface Invoice {
  readonly id: string
  readonly agentId: string
  readonly wallet: string
  readonly payTo: string
  /** Decimal USDC. */
  readonly amountUsdc: string
}

/** How to reach the service, for the examples that do not use the client. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
}
