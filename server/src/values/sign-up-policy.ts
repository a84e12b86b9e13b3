/** Who may sign up: anyone, or only people with an invitation. */
export const SIGN_UP_POLICIES = ['open', 'invited'] as const

export type SignUpPolicy = (typeof SIGN_UP_POLICIES)[number]
